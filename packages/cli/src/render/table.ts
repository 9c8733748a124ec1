import { paintFor, widthOf, type CliContext } from '../cli-context.js'
import { columnsOf, cut, pad } from './fit.js'
import type { Paint } from './paint.js'

export interface Column<Row> {
  readonly title: string
  /** Plain text; `paint` adds colour after the cell is fitted. */
  readonly cell: (row: Row) => string
  readonly paint?: (text: string, row: Row) => string
  readonly align?: 'left' | 'right'
  /** Shrinks to this width when the table is too wide. Absent: keeps its width. */
  readonly shrinkTo?: number
  /** Dropped, highest number first, when shrinking is not enough. Absent: never dropped. */
  readonly dropOrder?: number
}

const GAP = 2

/** A table in at most `width` columns; the first line has the titles. */
function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const { titles, line } = layoutTable(columns, rows, width)
  return [titles, ...rows.map(line)]
}

/** Columns that are fitted to the rows and the width. A line costs no more than its own row. */
export interface TableLayout<Row> {
  readonly titles: string
  readonly line: (row: Row) => string
}

export function layoutTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): TableLayout<Row> {
  // What is longer than the table needs no exact measure.
  const cells = columns.map((column) => ({ column, texts: rows.map((row) => column.cell(row).slice(0, width)) }))
  const sized = fitColumns(cells, width).map(({ column, size }) => ({ column, size }))
  const titles = sized.map(({ column, size }) => pad(column.title, size, column.align)).join(' '.repeat(GAP))
  return {
    titles: cut(titles.trimEnd(), width),
    line: (row) =>
      sized
        .map(({ column, size }) => {
          const text = pad(column.cell(row), size, column.align)
          return column.paint === undefined ? text : column.paint(text, row)
        })
        .join(' '.repeat(GAP))
        .trimEnd(),
  }
}

interface Cells<Row> {
  readonly column: Column<Row>
  readonly texts: readonly string[]
}
interface Sized<Row> extends Cells<Row> {
  readonly size: number
}

function fitColumns<Row>(cells: readonly Cells<Row>[], width: number): Sized<Row>[] {
  let sized = cells.map((cell) => ({ ...cell, size: fullSize(cell) }))
  while (total(sized, minimumSize) > width) {
    const last = Math.max(...sized.map(dropOrder))
    if (last < 0) break
    sized = sized.filter((cell) => dropOrder(cell) !== last)
  }
  return shrink(sized, total(sized, ({ size }) => size) - width)
}

const fullSize = <Row>({ column, texts }: Cells<Row>): number =>
  Math.max(columnsOf(column.title), ...texts.map((text) => columnsOf(text)))

const minimumSize = <Row>({ column, size }: Sized<Row>): number => Math.min(size, column.shrinkTo ?? size)

const total = <Row>(sized: readonly Sized<Row>[], sizeOf: (cell: Sized<Row>) => number): number =>
  sized.reduce((sum, cell) => sum + sizeOf(cell), GAP * Math.max(0, sized.length - 1))

const dropOrder = <Row>({ column }: Cells<Row>): number => column.dropOrder ?? -1

/** Shrinks the widest column that can shrink, one character at a time, until the excess is gone. */
function shrink<Row>(sized: readonly Sized<Row>[], excess: number): Sized<Row>[] {
  const result = [...sized]
  for (let left = excess; left > 0; left--) {
    const shrinkable = result.filter((cell) => cell.size > minimumSize(cell))
    const widest = shrinkable.toSorted((a, b) => b.size - a.size)[0]
    if (widest === undefined) break
    result[result.indexOf(widest)] = { ...widest, size: widest.size - 1 }
  }
  return result
}

/** The lines of a table for stdout, with bold titles. */
export function tableFor<Row>(
  context: CliContext,
  rows: readonly Row[],
  columnsIn: (paint: Paint) => readonly Column<Row>[],
): string[] {
  const paint = paintFor(context, context.stdout)
  const [titles = '', ...lines] = renderTable(columnsIn(paint), rows, widthOf(context.stdout))
  return [paint.bold(titles), ...lines]
}
