import { expect, test } from 'vitest'
import { piecesOf } from '../web/parts/pieces.js'

const joined = (text: string): string =>
  piecesOf(text)
    .map(({ text: piece, continues }, index, all) => piece + (continues || index === all.length - 1 ? '' : '\n'))
    .join('')

test.each([
  ['nothing', ''],
  ['a line', 'npm test'],
  ['a long line', 'x'.repeat(100_000)],
  ['many lines', 'some text\n'.repeat(10_000)],
  ['many empty lines', '\n'.repeat(20_000)],
  ['emoji', '👨‍👩‍👧'.repeat(5_000)],
  ['long and short lines', `${'y'.repeat(9_000)}\n`.repeat(5) + 'end'],
])('15.2 %s in pieces is all there', (_name, text) => {
  expect(joined(text)).toBe(text)
  for (const { text: piece } of piecesOf(text)) expect(piece.length).toBeLessThanOrEqual(4_000)
})

test('15.2 pieces end between characters', () => {
  for (const { text } of piecesOf(`x${'😀'.repeat(5_000)}`)) expect(text).not.toMatch(/[\uD800-\uDFFF]/u)
})
