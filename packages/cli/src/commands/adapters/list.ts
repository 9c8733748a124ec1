import { loginRefusal } from '@agentproto/contracts'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { CommandResult, Define } from '../../cli-command.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import { paintFor, type CliContext } from '../../cli-context.js'
import type { Paint } from '../../render/paint.js'
import { type Column, tableFor } from '../../render/table.js'

export const define: Define = (command) =>
  command
    .description('list the adapters, and whether the agent of each is installed')
    .json()
    .examples('adapters list', 'adapters list --json')
    .run(list)

async function list(context: CliContext): Promise<CommandResult> {
  const adapters = await (await openAdapters(context)).list()
  const anyNeedsLogin = adapters.some(needsLogin)
  const text = tableFor<AdapterSummary>(context, adapters, (paint) => [
    { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
    { title: 'NAME', cell: ({ name }) => name, shrinkTo: 10 },
    { title: 'FROM', cell: originOf, dropOrder: 4 },
    { title: 'PROTOCOL', cell: ({ protocol }) => protocol, dropOrder: 2 },
    {
      title: 'INSTALLED',
      cell: ({ installed }) => (installed ? 'yes' : 'no'),
      paint: (cell, { installed }) => (installed ? paint.green(cell) : paint.dim(cell)),
    },
    // Only agents of a registry were measured: most lists have none.
    ...(anyNeedsLogin ? [loginColumn(paint)] : []),
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

const loginColumn = (paint: Paint): Column<AdapterSummary> => ({
  title: 'LOGIN',
  cell: (adapter) => (needsLogin(adapter) ? 'needs one' : ''),
  paint: paint.yellow,
})

const needsLogin = ({ observed }: AdapterSummary): boolean => loginRefusal(observed) !== undefined

/** A manifest in a workspace may claim anything: only one of the home was written by agentproto. */
const originOf = ({ source, registry }: AdapterSummary): string =>
  source === 'user' && registry !== undefined ? 'registry' : ORIGINS[source]

const ORIGINS: Readonly<Record<AdapterSummary['source'], string>> = {
  bundled: 'bundled',
  user: 'yours',
  workspace: 'workspace',
  host: 'program',
}
