import { EXIT, type AdapterSummary } from '@agentproto/contracts'
import { adaptersOf } from '../adapters/adapters-of.js'
import { paintOf, print, printJson, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { renderTable, type Column } from '../render/table.js'

/** `agentproto adapters list`. */
export async function listAdapters(io: Io, { json }: JsonOption): Promise<number> {
  const adapters = await (await adaptersOf(io)).list()
  if (json === true) {
    printJson(io, { adapters })
    return EXIT.ok
  }
  const paint = paintOf(io, io.stdout)
  const columns: Column<AdapterSummary>[] = [
    { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
    { title: 'NAME', cell: ({ name }) => name, shrinkTo: 10 },
    { title: 'PROTOCOL', cell: ({ protocol }) => protocol, dropOrder: 2 },
    {
      title: 'INSTALLED',
      cell: ({ installed }) => (installed ? 'yes' : 'no'),
      paint: (text, { installed }) => (installed ? paint.green(text) : paint.dim(text)),
    },
    // How many points of its manifest nobody has seen on a real agent.
    { title: 'UNVERIFIED', cell: ({ unverified = [] }) => String(unverified.length || ''), align: 'right' },
    {
      title: 'TO INSTALL',
      cell: ({ installed, installHint }) => (installed ? '' : (installHint ?? '')),
      shrinkTo: 10,
      dropOrder: 1,
    },
    { title: 'MODES', cell: ({ modes }) => modes.join(', '), shrinkTo: 8, dropOrder: 3 },
  ]
  const [titles = '', ...rows] = renderTable(columns, adapters, widthOf(io.stdout))
  print(io.stdout, [paint.bold(titles), ...rows])
  if (adapters.some(({ unverified }) => unverified !== undefined))
    print(
      io.stderr,
      paintOf(io, io.stderr).dim('UNVERIFIED counts what nobody has seen on a real agent; --json names it.'),
    )
  return EXIT.ok
}
