import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { CommandResult, Define } from '../../cli-command.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import { paintFor, type CliContext } from '../../cli-context.js'
import { tableFor } from '../../render/table.js'

export const define: Define = (command) =>
  command
    .description('list the adapters, and whether the agent of each is installed')
    .json()
    .examples('adapters list', 'adapters list --json')
    .run(list)

async function list(context: CliContext): Promise<CommandResult> {
  const adapters = await (await openAdapters(context)).list()
  const text = tableFor<AdapterSummary>(context, adapters, (paint) => [
    { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
    { title: 'NAME', cell: ({ name }) => name, shrinkTo: 10 },
    { title: 'PROTOCOL', cell: ({ protocol }) => protocol, dropOrder: 2 },
    {
      title: 'INSTALLED',
      cell: ({ installed }) => (installed ? 'yes' : 'no'),
      paint: (cell, { installed }) => (installed ? paint.green(cell) : paint.dim(cell)),
    },
    { title: 'UNVERIFIED', cell: ({ unverified = [] }) => String(unverified.length || ''), align: 'right' },
    {
      title: 'TO INSTALL',
      cell: ({ installed, installHint = '' }) => (installed ? '' : installHint),
      shrinkTo: 10,
      dropOrder: 1,
    },
    { title: 'MODES', cell: ({ modes }) => modes.join(', '), shrinkTo: 8, dropOrder: 3 },
  ])
  const legend = 'UNVERIFIED counts facts of the manifest that were not checked on a real agent; --json lists them.'
  const hasUnverified = adapters.some(({ unverified }) => unverified !== undefined)
  return { json: { adapters }, text, note: hasUnverified ? paintFor(context, context.stderr).dim(legend) : undefined }
}
