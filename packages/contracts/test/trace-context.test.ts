import { traceIdOf, traceOf } from '@agentproto/contracts'
import { expect, test } from 'vitest'

// W3C Trace Context, levels 1 and 2.

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const given = `00-${TRACE}-${PARENT}-01`

test('a valid context is taken as it is, and names its trace', () => {
  expect(traceOf({ traceparent: given })).toEqual({ traceparent: given })
  const tracestate = 'congo=t61rcWkgMzE,tenant@rojo=00f067aa0ba902b7'
  expect(traceOf({ traceparent: given, tracestate })).toEqual({ traceparent: given, tracestate })
  expect(traceIdOf({ traceparent: given })).toBe(TRACE)
})

test.each([
  ['nothing', undefined],
  ['no text', 7],
  ['an empty text', ''],
  ['a version that is forbidden', `ff-${TRACE}-${PARENT}-01`],
  ['a version that is none', `0x-${TRACE}-${PARENT}-01`],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['upper case', given.toUpperCase()],
  ['a trace id that is too short', `00-${TRACE.slice(1)}-${PARENT}-01`],
  ['flags that are too long', `${given}0`],
  ['more fields than version 00 has', `${given}-more`],
  ['two of them in one header', `${given}, ${given}`],
  ['blanks around it', ` ${given} `],
  ['a line break after it', `${given}\n`],
  ['a later version whose further field has no dash', `cc-${TRACE}-${PARENT}-01.what`],
  ['a later version that is endless', `cc-${TRACE}-${PARENT}-01-${'x'.repeat(1_000)}`],
])('%s is dropped', (_, traceparent) => {
  expect(traceOf({ traceparent, tracestate: 'a=1' })).toBeUndefined()
})

test('of a later version what is known is passed on, as the version that is known', () => {
  expect(traceOf({ traceparent: `cc-${TRACE}-${PARENT}-09-what` })).toEqual({ traceparent: given })
  expect(traceOf({ traceparent: `cc-${TRACE}-${PARENT}-02` })).toEqual({ traceparent: `00-${TRACE}-${PARENT}-00` })
})

test.each([
  ['no text', 7],
  ['nothing in it', ' , '],
  ['a member without a value', 'a'],
  ['an empty value', 'a='],
  ['a key in upper case', 'A=1'],
  ['a key that begins with a digit and names no tenant', '0a=1'],
  ['a line break', 'a=1\nb=2'],
  ['a letter that is no ASCII', 'a=ü'],
  ['the same key twice', 'a=1,a=2'],
  ['33 members', Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(',')],
  ['more than can be valid', `a=1,${' '.repeat(20_000)}`],
])('a tracestate with %s is dropped alone', (_, tracestate) => {
  expect(traceOf({ traceparent: given, tracestate })).toEqual({ traceparent: given })
})

test('a tracestate that is too long loses whole members: long ones first, then those at its end', () => {
  const member = (key: string, chars: number): string => `${key}=${'v'.repeat(chars - key.length - 1)}`
  const state = (...members: string[]): string | undefined =>
    traceOf({ traceparent: given, tracestate: members.join(', ') })?.tracestate
  const short = [member('a', 128), member('b', 128), member('c', 128), member('d', 125)]
  expect(state(...short)).toBe(short.join(','))
  expect(short.join(',')).toHaveLength(512)
  expect(state(member('long', 200), ...short)).toBe(short.join(','))
  expect(state(...short, 'e=1')).toBe(short.join(','))
  expect(state(...['x', 'y', 'z'].map((key) => member(key, 250)))).toBeUndefined()
})
