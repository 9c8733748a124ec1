import { array, assert, nat, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { LineSplitter } from '../src/output.ts'

function split(chunks: readonly Buffer[], max = 1 << 20): { lines: string[]; dropped: number[] } {
  const dropped: number[] = []
  const splitter = new LineSplitter(max, (bytes) => void dropped.push(bytes))
  const lines = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
  return { lines, dropped }
}

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length))
}

test('however the bytes are cut, the lines are the same', () => {
  const text = array(string({ unit: 'binary', maxLength: 20 }).map((line) => line.replaceAll('\n', '')))
  assert(
    property(text, array(nat()), (lines, places) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      expect(split(cut(bytes, places)).lines.join('\n')).toBe(
        lines.map((line) => Buffer.from(line).toString()).join('\n'),
      )
    }),
  )
})

test('what follows the last newline is a line once the stream ends', () => {
  expect(split([Buffer.from('a\nb')]).lines).toEqual(['a', 'b'])
  expect(split([Buffer.from('')]).lines).toEqual([])
})

test('oversize lines are dropped and reported with their length, wherever they are cut', () => {
  assert(
    property(array(nat()), (places) => {
      const bytes = Buffer.from(`ok\n${'x'.repeat(50)}\nfine\n${'y'.repeat(11)}\n`)
      expect(split(cut(bytes, places), 10).lines).toEqual(expect.arrayContaining(['ok', 'fine']))
    }),
  )
  expect(split([Buffer.from('x'.repeat(8)), Buffer.from('x'.repeat(8)), Buffer.from('x\nok\n')], 10)).toEqual({
    lines: ['ok'],
    dropped: [17],
  })
})
