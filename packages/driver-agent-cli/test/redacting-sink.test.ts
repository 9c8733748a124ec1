import type { AgentSignal } from '@agentproto/contracts/agent'
import { createRedactor } from '@agentproto/secrets'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RedactingSink } from '../src/launch/redacting-sink.ts'
import { quiet } from './guarded-launch.ts'

const TOKEN = `agp_o_0123456789abcdef_${'aB3_-xY9'.repeat(6).slice(0, 43)}`
const VALUE = 'sk-guard-4711'
const END: AgentSignal = { type: 'turn-end', reason: 'end_turn' }
type Kind = 'text-delta' | 'thought' | 'output'

const said = (type: Kind, text: string): AgentSignal =>
  type === 'output' ? { type, stream: 'stderr', text } : { type, text }

function sinkOf(...values: string[]): { readonly sink: RedactingSink; readonly out: AgentSignal[] } {
  const redactor = createRedactor()
  for (const value of values) redactor.add(value)
  const out: AgentSignal[] = []
  return { sink: new RedactingSink({ ...quiet, emit: (batch) => void out.push(...batch) }, redactor), out }
}

const textOf = (out: readonly AgentSignal[], type: Kind): string =>
  out.map((signal) => (signal.type === type ? signal.text : '')).join('')

/** What may come between two letters. */
const BETWEEN: Readonly<Record<string, readonly AgentSignal[]>> = {
  nothing: [],
  thoughts: [{ type: 'thought', text: 'hm ' }],
  'tool calls': [{ type: 'tool-call', toolCallId: 'c', title: 'ls' }],
  'usage and titles': [{ type: 'usage' }, { type: 'title', title: 't' }],
  'another message': [{ type: 'text-delta', text: ' ', messageId: 'other' }],
  'lines on stderr': [{ type: 'output', stream: 'stderr', text: 'working' }],
}

test.each(Object.entries(BETWEEN))(
  '12.A3 a token that no one registered, printed letter by letter with %s in between, is redacted',
  (_, between) => {
    const { sink, out } = sinkOf()
    for (const letter of TOKEN) void sink.emit([{ type: 'text-delta', text: letter }, ...between])
    void sink.emit([END])
    const text = textOf(out, 'text-delta').replaceAll(' ', '')
    expect(text).toContain('[redacted]')
    // Fewer than three letters tell nothing, and are not held back.
    expect(text.replace('[redacted]', '')).toBe('ag')
  },
)

test.each(['text-delta', 'thought', 'output'] as const)(
  '12.A3 a token is redacted in each kind of text: %s',
  (type) => {
    const { sink, out } = sinkOf()
    for (const letter of TOKEN) void sink.emit([said(type, letter)])
    void sink.emit([END])
    expect(textOf(out, type)).toBe('ag[redacted]')
  },
)

test('12.A3 a token that breaks off is redacted as far as it goes, at the latest when its turn ends', () => {
  for (const length of [24, 40, 65]) {
    const { sink, out } = sinkOf()
    void sink.emit([said('text-delta', `it is ${TOKEN.slice(0, length)}`)])
    expect(textOf(out, 'text-delta')).toBe('it is ')
    void sink.emit([END])
    expect([textOf(out, 'text-delta'), out.at(-1)]).toEqual(['it is [redacted]', END])
  }
})

test('12.A3 what is held back is bounded, in its order, and all of it is emitted when the turn ends', () => {
  const { sink, out } = sinkOf(VALUE)
  void sink.emit([said('text-delta', 'see th'), said('text-delta', 'is')])
  expect(textOf(out, 'text-delta')).toBe('see this')
  void sink.emit([{ type: 'tool-call', toolCallId: 'c', title: 'ls' }])
  expect(out.map(({ type }) => type)).toEqual(['text-delta', 'text-delta', 'tool-call'])
  for (let at = 0; at < 1_000; at++) void sink.emit([said('text-delta', ' ')])
  expect(textOf(out, 'text-delta').length).toBeGreaterThan(900)
  void sink.emit([said('text-delta', 'sk-guard-47'), END])
  expect(textOf(out, 'text-delta')).toBe(`see this${' '.repeat(1_000)}sk-guard-47`)
})

test('12.A3 lines of output stay lines', () => {
  const { sink, out } = sinkOf(VALUE)
  for (const text of ['loads', '', '\nk', 'ok ag', 'p_no']) void sink.emit([said('output', text)])
  void sink.emit([END])
  expect(out.slice(0, -1).map((signal) => (signal.type === 'output' ? signal.text : signal.type))).toEqual([
    'loads',
    '',
    '\nk',
    'ok ag',
    'p_no',
  ])
})

test('12.A3 of a value in pieces of any kind and size, at most two letters are in any text', () => {
  const kinds = fc.constantFrom<Kind | 'tool-call'>('text-delta', 'text-delta', 'thought', 'output', 'tool-call')
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), kinds), { minLength: 1 }), (steps) => {
      const { sink, out } = sinkOf(VALUE)
      let at = 0
      for (let turn = 0; at < VALUE.length; turn++) {
        const [size, between] = steps[turn % steps.length] ?? [1, 'tool-call']
        const other: AgentSignal =
          between === 'tool-call'
            ? { type: between, toolCallId: 'c', title: 'x' }
            : said(between, between === 'text-delta' ? '' : 'x')
        void sink.emit([said('text-delta', VALUE.slice(at, at + size)), other])
        at += size
      }
      void sink.emit([END])
      expect(textOf(out, 'text-delta')).toMatch(/^(s|sk)?\[redacted\]$/)
    }),
  )
})
