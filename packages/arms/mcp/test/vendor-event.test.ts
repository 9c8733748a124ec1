import { expect, test } from 'vitest'
import { readElicitation } from '../src/elicitation.ts'
import { parsePath, textAt, valueAt } from '../src/path.ts'
import { parseProfile } from '../src/profile.ts'
import { keptEvent, vendorEvent } from '../src/vendor-event.ts'

const source = (map: object, more: object = {}) => {
  const { data } = parseProfile({
    transport: 'stdio',
    data: { events: [{ method: 'x', kind: 'msg.type', ...more, map }] },
  })
  const [first] = data.events ?? []
  if (!first) throw new Error('no source')
  return first
}
const read = (meaning: object, msg: object) => vendorEvent({ msg: { type: 'k', ...msg } }, source({ k: meaning }))

test('a place is a way of keys; a negative number counts from the end', () => {
  const value = { a: [{ b: 'one' }, { b: 'two' }], c: { d: ['x', 'y'] }, n: 0 }
  expect(valueAt(value, parsePath('a.-1.b'))).toBe('two')
  expect(textAt(value, parsePath('c.d'))).toBe('x y')
  expect(textAt(value, parsePath('n'))).toBe('0')
  expect(valueAt(value, parsePath('a.7.b'))).toBeUndefined()
  expect(valueAt(value, parsePath('constructor.name'))).toBeUndefined()
  expect(textAt(value, parsePath('c'))).toBeUndefined()
})

test.each([
  [{ event: 'text-delta', text: 'msg.d' }, { d: 'hi' }, { type: 'text-delta', text: 'hi' }],
  [
    { event: 'thought', text: 'msg.d', messageId: 'msg.id' },
    { d: 'hm', id: 'm1' },
    { type: 'thought', messageId: 'm1' },
  ],
  [
    {
      event: 'tool-call',
      toolCallId: 'msg.id',
      title: 'msg.cmd',
      kind: 'execute',
      input: 'msg.cmd',
      status: 'in_progress',
    },
    { id: 't1', cmd: ['ls', '-l'] },
    {
      type: 'tool-call',
      toolCallId: 't1',
      title: 'ls -l',
      kind: 'execute',
      input: ['ls', '-l'],
      status: 'in_progress',
    },
  ],
  [
    {
      event: 'tool-result',
      toolCallId: 'msg.id',
      output: 'msg.out',
      succeeded: { at: 'msg.code', is: 0 },
      locations: 'msg.files',
    },
    { id: 't1', out: 'no', code: 1, files: { '/a': {}, '/b': {} } },
    { type: 'tool-result', status: 'failed', output: 'no', locations: [{ path: '/a' }, { path: '/b' }] },
  ],
  [
    { event: 'plan', entries: 'msg.plan', content: 'step', status: 'state' },
    { plan: [{ step: 'one', state: 'completed' }, { step: 'two', state: 'odd' }, {}] },
    {
      type: 'plan',
      entries: [
        { content: 'one', status: 'completed' },
        { content: 'two', status: 'pending' },
      ],
    },
  ],
  [
    { event: 'usage', used: 'msg.u', size: 'msg.s' },
    { u: 5, s: 'x' },
    { type: 'usage', used: 5 },
  ],
  [{ event: 'title', title: 'msg.t' }, { t: 'A title' }, { type: 'title', title: 'A title' }],
  [
    { event: 'notice', text: 'msg.t', severity: 'warning' },
    { t: 'slow' },
    { type: 'notice', severity: 'warning', text: 'slow' },
  ],
  [
    { event: 'error', message: 'msg.m', agentCode: 'msg.c', final: true },
    { m: 'no', c: 'E1' },
    { type: 'error', final: true, message: 'no', agentCode: 'E1' },
  ],
  [{ event: 'session', id: 'msg.id' }, { id: 's1' }, { type: 'session', id: 's1' }],
  [
    { event: 'turn-end', reason: 'refusal', text: 'msg.t' },
    { t: 'all' },
    { type: 'turn-end', reason: 'refusal', said: 'all' },
  ],
  [{ event: 'ignore' }, {}, { type: 'nothing' }],
])('%o', (meaning, msg, event) => {
  expect(read(meaning, msg)).toMatchObject(event)
})

test('what is not where the manifest says has no meaning, and is kept', () => {
  expect(read({ event: 'text-delta', text: 'msg.d' }, {})).toBeUndefined()
  expect(read({ event: 'tool-call', toolCallId: 'msg.id' }, {})).toBeUndefined()
  expect(read({ event: 'plan', entries: 'msg.plan', content: 'step' }, { plan: 'x' })).toBeUndefined()
  expect(keptEvent('x', { msg: { type: 'other' } }, source({}))).toMatchObject({ type: 'extension', kind: 'x:other' })
})

test('a kind without a meaning has that of *, and none otherwise', () => {
  expect(vendorEvent({ msg: { type: 'other' } }, source({ '*': { event: 'ignore' } }))).toEqual({ type: 'nothing' })
  expect(vendorEvent({ msg: { type: 'constructor' } }, source({ k: { event: 'ignore' } }))).toBeUndefined()
})

test('a question is a form or a page, in the older way too; one of an unknown mode is none', () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } }
  const form = readElicitation({ message: 'Who?', requestedSchema: schema }, [])
  expect(form).toMatchObject({ ask: { kind: 'question', mode: 'form', message: 'Who?', schema } })
  expect(form?.result({ outcome: 'accept', content: { name: 'x' } })).toEqual({
    action: 'accept',
    content: { name: 'x' },
  })
  expect(form?.result({ outcome: 'decline' })).toEqual({ action: 'decline' })
  expect(form?.result({ outcome: 'cancelled' })).toEqual({ action: 'cancel' })
  expect(readElicitation({ mode: 'url', url: 'https://x', message: 'Look' }, [])).toMatchObject({
    ask: { mode: 'url', url: 'https://x' },
  })
  expect(readElicitation({ mode: 'dance' }, [])).toBeUndefined()
  expect(readElicitation({ mode: 'url' }, [])).toBeUndefined()
})

test('a permission is answered by its option’s reply, or by the one for no answer', () => {
  const { data } = parseProfile({
    transport: 'stdio',
    data: {
      permissions: [
        {
          when: { kind: 'exec', 'more.level': 2 },
          toolCall: { toolCallId: 'id', title: 'cmd.-1' },
          options: [{ optionId: 'y', kind: 'allow_once', reply: { action: 'accept', decision: 'approved' } }],
          cancelled: { action: 'cancel' },
        },
      ],
    },
  })
  const rules = data.permissions ?? []
  const asked = readElicitation(
    { kind: 'exec', more: { level: 2 }, id: 'c1', cmd: ['sh', 'ls'], message: 'May I?' },
    rules,
  )
  expect(asked).toMatchObject({
    ask: {
      kind: 'permission',
      toolCall: { toolCallId: 'c1', title: 'ls' },
      options: [{ optionId: 'y', name: 'y' }],
    },
  })
  expect(asked?.result({ outcome: 'selected', optionId: 'y' })).toEqual({ action: 'accept', decision: 'approved' })
  expect(asked?.result({ outcome: 'selected', optionId: 'forged' })).toEqual({ action: 'cancel' })
  expect(readElicitation({ kind: 'exec', more: { level: 1 }, id: 'c1' }, rules)).toMatchObject({
    ask: { kind: 'question' },
  })
})
