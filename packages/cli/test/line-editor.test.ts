import { expect, test } from 'vitest'
import type { Key } from '../src/attach/keyboard.js'
import { LineEditor } from '../src/attach/line-editor.js'

const key = (name: string, fields: Partial<Key> = {}): Key => ({ name, ctrl: false, meta: false, ...fields })
const ctrl = (name: string): Key => key(name, { ctrl: true, text: '\u0001' })
function press(editor: LineEditor, ...keys: readonly (Key | string)[]): string | undefined {
  let line: string | undefined
  for (const each of keys) {
    if (typeof each !== 'string') line = editor.key(each) ?? line
    else for (const text of each) editor.key({ text, ctrl: false, meta: false })
  }
  return line
}

test('keys edit the line as in a shell', () => {
  const editor = new LineEditor()
  press(editor, 'hello world', key('left'), key('backspace'), key('home'), 'X', key('delete'), key('end'), '!')
  expect(editor.text).toBe('Xello word!')
  press(editor, ctrl('w'))
  expect(editor.text).toBe('Xello ')
  press(editor, ctrl('a'), ctrl('k'), 'ab', ctrl('b'), ctrl('u'))
  expect(editor.text).toBe('b')
})

test('a backspace removes one grapheme', () => {
  const editor = new LineEditor()
  press(editor, key('', { text: '👩‍👧é' }), key('backspace'))
  expect(editor.text).toBe('👩‍👧')
})

test('the history has the sent lines, and then the draft', () => {
  const editor = new LineEditor()
  expect(press(editor, 'one', key('return'), 'two', key('return'), 'draft', key('up'), key('up'))).toBe('two')
  expect(editor.text).toBe('one')
  press(editor, key('down'), key('down'))
  expect(editor.text).toBe('draft')
})

test('pasted newlines do not submit, and Alt-Enter inserts one', () => {
  const editor = new LineEditor()
  expect(press(editor, key('paste', { text: 'a\nb' }), key('return', { meta: true }), 'c')).toBeUndefined()
  expect(editor.text).toBe('a\nb\nc')
  expect(editor.view(20)).toEqual({ text: 'a⏎b⏎c', column: 5 })
  expect(press(editor, key('return'))).toBe('a\nb\nc')
})

test('a long line is scrolled to the cursor', () => {
  const editor = new LineEditor()
  press(editor, 'abcdefghijklmnopqrstuvwxyz')
  const { text, column } = editor.view(10)
  expect(text.length).toBeLessThanOrEqual(10)
  expect(text.endsWith('z')).toBe(true)
  expect(column).toBe(text.length)
})

test('14.2.4 a paste of several lines is kept with its tabs, and shown as lines', () => {
  const editor = new LineEditor()
  press(editor, key('paste', { text: 'if x:\n\ty = "日本語 text"\n\treturn' }))
  expect(editor.text).toBe('if x:\n\ty = "日本語 text"\n\treturn')
  expect(editor.viewLines(12, 5)).toEqual({
    rows: ['if x:', ' y = "日本…', ' return'],
    cursor: { row: 2, column: 7 },
    lines: 3,
  })
  press(editor, key('up'))
  expect(editor.viewLines(40, 2)).toMatchObject({ cursor: { row: 1, column: 8 }, lines: 3 })
  press(editor, key('up'), '!')
  expect(editor.text).toBe('if x:!\n\ty = "日本語 text"\n\treturn')
  press(editor, key('down'), key('down'), key('end'), '?')
  expect(editor.text.endsWith('return?')).toBe(true)
})

test('14.2.4 a paste of a megabyte is taken whole, and only what is visible is looked at', () => {
  const editor = new LineEditor()
  const text = 'word after word\n'.repeat(70_000)
  press(editor, key('paste', { text }))
  expect(editor.length).toBe(text.length)
  const view = editor.viewLines(48, 4)
  expect(view.rows).toEqual(['word after word', 'word after word', 'word after word', ''])
  expect(view.lines).toBe(70_001)
  expect(editor.view(48).text.length).toBeLessThanOrEqual(48)
})
