import { type ErrorRow, ERRORS } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { codeRows, page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

const rows = codeRows(page(ROOT, 'docs/errors.md'))

test('docs/errors.md and the error table name the same codes, each once', () => {
  expect(rows.map(([code]) => code).toSorted()).toEqual(Object.keys(ERRORS).toSorted())
})

test('docs/errors.md says of each code what the error table says', () => {
  const documented = rows.map(([code = '', ...cells]) => [code, cells.slice(0, 4)])
  const inCode = Object.entries(ERRORS).map(([code, row]) => [code, cellsOf(row)])
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(inCode))
})

test('every code says what to do', () => {
  expect(rows.filter((cells) => !cells[5]?.endsWith('.') && !cells[5]?.endsWith(').'))).toEqual([])
})

test('a row that differs is reported', () => {
  expect(codeRows('| `internal` | 400 | 1 | result | no | Report it. |')).toEqual([
    ['internal', '400', '1', 'result', 'no', 'Report it.'],
  ])
  expect(cellsOf(ERRORS.internal)).not.toEqual(['400', '1', 'result', 'no'])
})

function cellsOf({ status, exit, mcp, retryable }: ErrorRow): readonly string[] {
  return [String(status), String(exit), mcp === 'invalid-params' ? 'params' : 'result', retryable ? 'yes' : 'no']
}
