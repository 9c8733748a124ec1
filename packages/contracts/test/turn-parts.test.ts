import { type SessionEvent, TURN_BOUNDS, TurnParts } from '@agentproto/contracts'
import { expect, test } from 'vitest'

type Payload = SessionEvent extends infer E
  ? E extends SessionEvent
    ? Omit<E, 'seq' | 'ts' | 'sessionId'>
    : never
  : never

function merged(...events: readonly Payload[]): ReturnType<TurnParts['output']> {
  const parts = new TurnParts()
  for (const event of events) parts.add({ seq: 1, ts: '', sessionId: 's', ...event })
  return parts.output()
}

test('text and thoughts are joined until something else comes, and a new message is a new part', () => {
  const output = merged(
    { type: 'thought', text: 'hm' },
    { type: 'text-delta', text: 'one ', messageId: 'm1' },
    { type: 'text-delta', text: 'two', messageId: 'm1' },
    { type: 'text-delta', text: 'three', messageId: 'm2' },
    { type: 'usage', used: 1 },
    { type: 'text-delta', text: '.', messageId: 'm2' },
  )
  expect(output).toEqual({
    text: 'one twothree.',
    parts: [
      { type: 'thought', text: 'hm' },
      { type: 'text', text: 'one two' },
      { type: 'text', text: 'three.' },
    ],
  })
})

test('a tool call is one part at the place where it began, its upserts merged; of plans the last one counts', () => {
  const { parts } = merged(
    { type: 'plan', entries: [{ content: 'look', status: 'pending' }] },
    { type: 'tool-call', toolCallId: 't', title: 'Read', kind: 'read', input: { path: 'a' } },
    { type: 'text-delta', text: 'meanwhile' },
    { type: 'tool-call', toolCallId: 't', status: 'in_progress', title: 'Reading a' },
    { type: 'plan', entries: [{ content: 'look', status: 'completed' }] },
    { type: 'tool-result', toolCallId: 't', status: 'completed', output: { text: 'A' } },
  )
  expect(parts).toEqual([
    { type: 'plan', entries: [{ content: 'look', status: 'completed' }] },
    {
      type: 'tool',
      toolCallId: 't',
      status: 'completed',
      title: 'Reading a',
      kind: 'read',
      input: { path: 'a' },
      output: { text: 'A' },
    },
    { type: 'text', text: 'meanwhile' },
  ])
})

test('a long text is cut, with its original size', () => {
  const piece = 'x'.repeat(TURN_BOUNDS.partChars - 1)
  const { text, parts } = merged({ type: 'text-delta', text: piece }, { type: 'text-delta', text: piece })
  expect(text).toHaveLength(2 * piece.length)
  expect(parts).toEqual([{ type: 'text', text: `${piece}x`, cut: { originalChars: 2 * piece.length } }])
})

test('a field of a tool call that is too long is omitted, with its original size', () => {
  const output = 'x'.repeat(TURN_BOUNDS.toolFieldChars)
  const call = { type: 'tool-call', toolCallId: 't', input: { a: 1 } } as const
  expect(merged(call, { ...call, output }).parts).toEqual([
    { type: 'tool', toolCallId: 't', status: 'pending', input: { a: 1 }, cut: { originalChars: output.length + 2 } },
  ])
  expect(merged(call, { ...call, output }, { ...call, output: 'short' }).parts).toEqual([
    { type: 'tool', toolCallId: 't', status: 'pending', input: { a: 1 }, output: 'short' },
  ])
})

test('all parts together are bounded, in number and in size', () => {
  const calls = Array.from({ length: TURN_BOUNDS.parts + 7 }, (_, i) => ({
    type: 'tool-call' as const,
    toolCallId: `t${i}`,
    output: 'x'.repeat(TURN_BOUNDS.toolFieldChars - 100),
  }))
  const { parts, omittedParts } = merged(...calls)
  expect([parts.length, omittedParts]).toEqual([TURN_BOUNDS.parts, 7])
  expect(JSON.stringify(parts).length).toBeLessThan(TURN_BOUNDS.allPartsChars * 1.2)
  expect(parts.at(-1)).toEqual({
    type: 'tool',
    toolCallId: `t${TURN_BOUNDS.parts - 1}`,
    status: 'pending',
    cut: { originalChars: TURN_BOUNDS.toolFieldChars - 98 },
  })
})
