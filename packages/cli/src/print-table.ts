import { paintFor, print, widthOf, type CliContext } from './cli-context.js'
import { renderTable, type Column } from './render/table.js'

/** Prints a table with bold titles on stdout. */
export function printTable<Row>(context: CliContext, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const [titles = '', ...lines] = renderTable(columns, rows, widthOf(context.stdout))
  print(context.stdout, [paintFor(context, context.stdout).bold(titles), ...lines])
}
