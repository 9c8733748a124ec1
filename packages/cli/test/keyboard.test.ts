import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { joinPastes, type Key, openKeyboard } from '../src/attach/keyboard.js'

const key = (name: string, fields: Partial<Key> = {}): Key => ({ name, ctrl: false, meta: false, ...fields })

function pressed(presses: readonly (readonly [key: Key, sequence: string, at?: number])[]): Key[] {
  const seen: Key[] = []
  let time = 0
  const report = joinPastes(
    (each) => seen.push(each),
    () => time,
  )
  for (const [each, sequence, at = time] of presses) {
    time = at
    report(each, sequence)
  }
  return seen
}
const start = [key('paste-start'), '\u001B[200~'] as const
const end = [key('paste-end'), '\u001B[201~'] as const

test('14.2.4 a paste is one key with its whole text: tabs stay, newlines are newlines, control characters go', () => {
  const seen = pressed([
    start,
    [key('a', { text: 'a' }), 'a'],
    [key('tab', { text: '\t' }), '\t'],
    [key('return', { text: '\r' }), '\r'],
    [key('enter', { text: '\n' }), '\n'],
    [key('up'), '\u001B[A'],
    [key('c', { ctrl: true, text: '\u0003' }), '\u0003'],
    end,
    [key('b', { text: 'b' }), 'b'],
  ])
  expect(seen.map(({ name, text }) => [name, text])).toEqual([
    ['paste-start', undefined],
    ['paste', 'a\t\n[A'],
    ['paste-end', undefined],
    ['b', 'b'],
  ])
})

test('14.2.4 a paste that the terminal breaks off does not lock the keyboard: Ctrl-C after a pause ends it', () => {
  const ctrlC = key('c', { ctrl: true, text: '\u0003' })
  const seen = pressed([start, [key('a', { text: 'a' }), 'a', 10], [ctrlC, '\u0003', 5_000]])
  expect(seen).toEqual([key('paste-start'), key('paste', { text: 'a' }), key('paste-end'), ctrlC])
})

test('14.1.1 several keys in one read are a paste, one key a read is not', async () => {
  const stdin = new PassThrough()
  const keys: Key[] = []
  const keyboard = openKeyboard({ stdin, output: new PassThrough() }, (each) => keys.push(each))
  for (const text of ['y', 'no', '\u001B[6~', '\u001B[200~a b\u001B[201~']) {
    stdin.write(text)
    await new Promise((done) => setImmediate(done))
  }
  keyboard.close()
  expect(keys.map(({ name, text, isPasted = false }) => [name, name === 'paste' ? text : undefined, isPasted])).toEqual(
    [
      ['y', undefined, false],
      ['n', undefined, true],
      ['o', undefined, true],
      ['pagedown', undefined, false],
      ['paste-start', undefined, true],
      ['paste', 'a b', false],
      ['paste-end', undefined, false],
    ],
  )
})

test('14.1.1 the keys after one that closes the keyboard are dropped', async () => {
  const stdin = new PassThrough()
  const keys: (string | undefined)[] = []
  const keyboard = openKeyboard({ stdin, output: new PassThrough() }, ({ name }) => {
    keys.push(name)
    keyboard.close()
  })
  stdin.write('yy')
  await new Promise((done) => setImmediate(done))
  expect(keys).toEqual(['y'])
})
