import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { Command } from 'commander'
import { openAdapters } from '../../adapters/open-adapters.js'
import { paintFor, print, printJson, type CliContext } from '../../cli-context.js'
import { examples, type JsonOption, type Run } from '../../command-definition.js'
import { printTable } from '../../render/table.js'

export function define(command: Command, run: Run): void {
  command
    .description('list the adapters, and whether the agent of each is installed')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('adapters list', 'adapters list --json'))
    .action(run(list))
}

async function list(context: CliContext, { json }: JsonOption): Promise<void> {
  const adapters = await (await openAdapters(context)).list()
  if (json === true) return printJson(context, { adapters })
  const paint = paintFor(context, context.stdout)
  printTable<AdapterSummary>(
    context,
    [
      { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
      { title: 'NAME', cell: ({ name }) => name, shrinkTo: 10 },
      { title: 'PROTOCOL', cell: ({ protocol }) => protocol, dropOrder: 2 },
      {
        title: 'INSTALLED',
        cell: ({ installed }) => (installed ? 'yes' : 'no'),
        paint: (text, { installed }) => (installed ? paint.green(text) : paint.dim(text)),
      },
      { title: 'UNVERIFIED', cell: ({ unverified = [] }) => String(unverified.length || ''), align: 'right' },
      {
        title: 'TO INSTALL',
        cell: ({ installed, installHint }) => (installed ? '' : (installHint ?? '')),
        shrinkTo: 10,
        dropOrder: 1,
      },
      { title: 'MODES', cell: ({ modes }) => modes.join(', '), shrinkTo: 8, dropOrder: 3 },
    ],
    adapters,
  )
  if (!adapters.some(({ unverified }) => unverified !== undefined)) return
  const legend = 'UNVERIFIED counts facts of the manifest that were not checked on a real agent; --json lists them.'
  print(context.stderr, paintFor(context, context.stderr).dim(legend))
}
