import { expect, test } from 'vitest'
import type { HostEvent, StreamEvent } from '@agentproto/contracts'
import { createPaint } from '../src/render/paint.js'
import { Transcript } from '../src/render/transcript.js'
import { wrap } from '../src/render/wrap.js'
import { log } from './samples.js'

function rows(events: readonly (StreamEvent | HostEvent)[], width = 60): string[] {
  const transcript = new Transcript({ paint: createPaint(false), width: () => width })
  const final = log(events).flatMap((event) => transcript.apply(event))
  return transcript.partial === '' ? final : [...final, `${transcript.partial}▏`]
}
const text = (value: string): StreamEvent => ({ type: 'text-delta', text: value })

test('a turn reads as a conversation', () => {
  const transcript = rows([
    { type: 'user-prompt', content: [{ type: 'text', text: 'write a.txt' }] },
    { type: 'thought', text: 'let me see' },
    text('I will '),
    text('write it.\nNow'),
    { type: 'tool-call', toolCallId: 't1', title: 'Write a.txt', kind: 'edit', status: 'pending' },
    {
      type: 'agent-prompt',
      requestId: 'r1',
      request: {
        kind: 'permission',
        toolCall: { type: 'tool-call', toolCallId: 't1', title: 'Write a.txt', input: { path: '/tmp/x/a.txt' } },
        options: [{ optionId: 'yes', name: 'Allow once', kind: 'allow_once' }],
      },
    },
    {
      type: 'agent-prompt-resolved',
      requestId: 'r1',
      answer: { outcome: 'selected', optionId: 'yes' },
      by: { type: 'principal', name: 'owner' },
    },
    {
      type: 'tool-result',
      toolCallId: 't1',
      status: 'completed',
      content: [{ type: 'diff', path: 'a.txt', oldText: 'one\ntwo\n', newText: 'one\n2\n' }],
    },
    {
      type: 'plan',
      entries: [
        { content: 'write', status: 'completed' },
        { content: 'rest', status: 'pending' },
      ],
    },
    { type: 'turn-end', reason: 'end_turn', usage: { totalTokens: 12 } },
  ])
  expect(transcript.join('\n')).toMatchInlineSnapshot(`
    "❯ write a.txt
    let me see
    I will write it.
    Now
    ● Write a.txt
    ? Write a.txt  /tmp/x/a.txt
      → Allow once (owner)
      ✓ completed
        a.txt
        - two
        + 2
    ☑ write
    ☐ rest
    ── turn 1 · end_turn · 9.0 s · 12 tokens ──
    "
  `)
})

test('text grows in the partial row and becomes final at a newline, at the width, or at another event', () => {
  expect(rows([text('hel')])).toEqual(['hel▏'])
  expect(rows([text('hel'), text('lo\nwor')])).toEqual(['hello', 'wor▏'])
  expect(rows([text('one two three four')], 10)).toEqual(['one two', 'three four▏'])
  expect(rows([text('hel'), { type: 'tool-call', toolCallId: 't', title: 'T' }])).toEqual(['hel', '● T'])
})

test('a result apart from its call has its name, and a failed one a mark', () => {
  const calls: StreamEvent[] = [
    { type: 'tool-call', toolCallId: 'a', title: 'A' },
    { type: 'tool-call', toolCallId: 'b', title: 'B' },
    {
      type: 'tool-result',
      toolCallId: 'a',
      status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text: 'no\nfile' } }],
    },
    { type: 'tool-result', toolCallId: 'b', status: 'interrupted' },
  ]
  expect(rows(calls)).toEqual(['● A', '● B', '  ✗ A failed', '    no', '    file', '  ✗ B interrupted'])
})

test('upserts of one call give one row, an unchanged plan none', () => {
  const plan: HostEvent = { type: 'plan', entries: [{ content: 'x', status: 'pending' }] }
  const call: StreamEvent = { type: 'tool-call', toolCallId: 'a', title: 'A' }
  expect(rows([call, { ...call, status: 'in_progress' }, plan, plan])).toEqual(['● A', '☐ x'])
})

test('errors, notices, other output and the end are shown', () => {
  expect(
    rows([
      { type: 'output', stream: 'stderr', text: 'warn\n' },
      { type: 'notice', severity: 'warning', text: 'compacted' },
      { type: 'error', message: 'it broke', stderrTail: 'trace' },
      { type: 'turn-end', reason: 'error', empty: true },
      { type: 'session-stopped', status: 'error', stopReason: 'agent_crashed' },
    ]),
  ).toEqual([
    '│ warn',
    '! compacted',
    '✗ it broke',
    '  trace',
    '── turn 1 · error · empty ──',
    '',
    '── session error (agent_crashed) ──',
  ])
})

test('long tool output is shortened', () => {
  const long = Array.from({ length: 40 }, (_, n) => `line ${n}`).join('\n')
  const result: StreamEvent = {
    type: 'tool-result',
    toolCallId: 'a',
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: long } }],
  }
  const last = rows([{ type: 'tool-call', toolCallId: 'a', title: 'A' }, result])
  expect(last).toHaveLength(2 + 12)
  expect(last.at(-1)).toBe('    … 29 more lines')
})

test('wrapping breaks at spaces, else within a word, and wide characters count twice', () => {
  expect(wrap('aaa bbb ccc', 8)).toEqual(['aaa bbb', 'ccc'])
  expect(wrap('abcdefghijkl', 8)).toEqual(['abcdefgh', 'ijkl'])
  expect(wrap('漢字漢字漢字', 8)).toEqual(['漢字漢字', '漢字'])
  expect(wrap('', 8)).toEqual([''])
})
