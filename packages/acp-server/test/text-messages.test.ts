import type { SessionEvent } from '@agentproto/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventUpdates } from '../src/event-updates.ts'
import { numberOf } from '../src/numbered-events.ts'
import { TextMessages } from '../src/text-messages.ts'

type Text = Extract<SessionEvent, { type: 'text-delta' | 'thought' }>

const ID = 's_"quoted"\\'
const ENVELOPE = { seq: 7, ts: '2026-01-01T00:00:00.000Z', sessionId: 's_00000001' }

/** The message of an event as the general way writes it. */
function general(event: Text, numbered: boolean): string {
  const [update] = new EventUpdates(true).of(event)
  const params = { sessionId: ID, update, ...(numbered ? { _meta: numberOf(event) } : {}) }
  return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })
}

const recordOf = (event: object) => ({ seq: 7, type: (event as Text).type, json: JSON.stringify(event) })

const HOSTILE = [
  '',
  '"',
  '\\',
  '\\"',
  '\\\\"',
  '"}',
  '","text":"',
  '","messageId":"m',
  '"type":"thought","text":"',
  '\ud800',
  '\u2028',
  '\0\n',
]
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...HOSTILE, 'a')).map((parts) => parts.join('')),
)
const event = fc
  .record(
    {
      turn: fc.nat(),
      type: fc.constantFrom('text-delta' as const, 'thought' as const),
      text,
      messageId: text,
    },
    { requiredKeys: ['type', 'text'] },
  )
  .map((of): Text => ({ ...ENVELOPE, ...of }))

test('a piece of text, cut from the log, is the message that the general way writes, letter for letter', () => {
  fc.assert(
    fc.property(event, fc.boolean(), (of, numbered) => {
      expect(new TextMessages(ID, numbered).of(recordOf(of))).toBe(general(of, numbered))
    }),
    { numRuns: 2_000 },
  )
})

test('of a long text as well', () => {
  const of: Text = { ...ENVELOPE, type: 'text-delta', text: '\\"'.repeat(1_000_000) }
  expect(new TextMessages(ID, false).of(recordOf(of))).toBe(general(of, false))
})

test('an escape that another writer of JSON prefers means the same', () => {
  const json = `{"seq":7,"ts":"","sessionId":"s","type":"text-delta","text":"\\u0041\\/\\u00e9\\ud83d\\ude00é"}`
  const message = new TextMessages(ID, false).of({ seq: 7, type: 'text-delta', json })
  expect(JSON.parse(message ?? '')).toEqual(JSON.parse(general(JSON.parse(json) as Text, false)))
})

test('what has other members, or is no text, is left to the general way', () => {
  const texts = new TextMessages(ID, false)
  const left = [
    { ...ENVELOPE, type: 'text-delta', text: 'a', cut: { originalChars: 9 } },
    { ...ENVELOPE, type: 'text-delta', text: 'a', messageId: 'm', cut: { originalChars: 9 } },
    { ...ENVELOPE, type: 'text-delta', text: 'a', messageId: 'm', more: 'x' },
    { ...ENVELOPE, type: 'text-delta', messageId: 'm', text: 'a' },
    { ...ENVELOPE, type: 'text-delta', text: 7 },
    { ...ENVELOPE, type: 'notice', severity: 'info', text: 'a' },
  ]
  expect(left.map((each) => texts.of(recordOf(each)))).toEqual(left.map(() => undefined))
  const broken = [
    '{"type":"text-delta","text":"a',
    '{"type":"text-delta","text":"a\\"}',
    '{"type":"text-delta","text":"a"}}',
    '',
  ]
  for (const json of broken) expect(texts.of({ seq: 1, type: 'text-delta', json })).toBeUndefined()
})
