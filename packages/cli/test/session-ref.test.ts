import { expect, test } from 'vitest'
import { pickSession } from '../src/session-ref.js'
import { session } from './samples.js'

const all = [
  session({ id: 's_abc111', label: 'try' }),
  session({ id: 's_abd222', label: 'twice', status: 'exited' }),
  session({ id: 's_xyz333', label: 'twice' }),
]
const pick = (ref: string): string => pickSession(all, ref).id

test('a session is found by its id, a prefix with or without s_, or its label', () => {
  expect(pick('s_abc111')).toBe('s_abc111')
  expect(pick('s_x')).toBe('s_xyz333')
  expect(pick('abd')).toBe('s_abd222')
  expect(pick('try')).toBe('s_abc111')
})

test('of several with one label the only live one is meant', () => {
  expect(pick('twice')).toBe('s_xyz333')
})

test('a name that means several is refused with the candidates', () => {
  expect(() => pick('ab')).toThrow(/2 sessions are meant.*s_abc111 \(try\), s_abd222 \(twice\)/)
})

test('a name that means none says where the ids are', () => {
  expect(() => pick('nope')).toThrow(/Given: nope\. .*agentproto sessions/)
  expect(() => pick('')).toThrow(/No session/)
})
