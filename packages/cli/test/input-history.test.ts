import { expect, test } from 'vitest'
import { InputHistory } from '../src/attach/input-history.js'

/** All lines, newest first. */
function all(history: InputHistory): string[] {
  const lines: string[] = []
  for (let line = history.browse(-1, ''); line !== undefined; line = history.browse(-1, '')) lines.push(line)
  history.leave()
  return lines
}

test('14.2.4 earlier prompts of the session come before those of this terminal; the same one is kept once', () => {
  const history = new InputHistory()
  history.add('now')
  history.addOlder('yesterday')
  history.addOlder('now')
  history.add('later')
  history.add('now')
  expect(all(history)).toEqual(['now', 'later', 'yesterday'])
})

test('14.2.4 the history is bounded: 10,000 lines, and lines of megabytes', () => {
  const history = new InputHistory()
  for (let index = 0; index < 10_000; index += 1) history.add(`line ${index}`)
  history.addOlder('older than all')
  expect(all(history)).toHaveLength(200)
  for (const char of 'abcdefghijkl') history.add(char.repeat(1_000_000))
  expect(all(history)).toHaveLength(8)
})

test('a line that comes while somebody steps through the history does not move them', () => {
  const history = new InputHistory()
  history.add('one')
  history.add('two')
  expect(history.browse(-1, 'draft')).toBe('two')
  expect(history.browse(-1, 'two')).toBe('one')
  history.add('three')
  expect(history.browse(1, 'one')).toBe('two')
  expect(history.browse(1, 'two')).toBe('three')
  expect(history.browse(1, 'three')).toBe('draft')
})
