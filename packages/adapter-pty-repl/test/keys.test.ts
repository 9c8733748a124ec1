import { expect, test } from 'vitest'
import { typing } from '../src/keys.ts'
import { parseSettings } from '../src/settings.ts'

const settings = (more: object = {}) => parseSettings({ prompt: '>', ...more })

test('a line is typed, and Enter after it', () => {
  expect(typing('hello', settings())).toEqual({ keys: 'hello\r', echo: 'hello' })
})

test('control characters are removed from a prompt', () => {
  expect(typing('a\u0003b\u001B[Ac\td', settings())).toMatchObject({ keys: 'ab[Ac    d\r' })
})

test('several lines are fenced or pasted, or refused', () => {
  expect(typing('a\r\nb', settings({ multiline: { open: '{', close: '}' } }))).toMatchObject({ keys: '{\ra\rb\r}\r' })
  expect(typing('a\nb', settings({ multiline: 'paste' }))).toMatchObject({ keys: '\u001B[200~a\nb\u001B[201~\r' })
  expect(typing('a\nb', settings())).toMatchObject({ refused: expect.stringContaining('one line') })
})

test('a line that the terminal would truncate is refused', () => {
  expect(typing('ü'.repeat(3_000), settings())).toMatchObject({ refused: expect.stringContaining('4095 bytes') })
  expect(typing('ü'.repeat(3_000), settings({ maxLineBytes: 10_000 }))).toHaveProperty('keys')
})

test('invalid settings are an error that names the key', () => {
  expect(() => parseSettings({})).toThrow(/prompt/)
  expect(() => parseSettings({ prompt: '(' })).toThrow(/prompt: Invalid regular expression/)
  expect(() => parseSettings({ prompt: '>', promt: 1 })).toThrow(/promt/)
})
