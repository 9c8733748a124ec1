import type { SessionEvent } from '@agentproto/client'
import { expect, test } from 'vitest'
import { TranscriptModel } from '../web/transcript/transcript.js'
import { type Body, eventsOf } from './session-events.js'

const transcriptOf = (...bodies: readonly Body[]): TranscriptModel => applied(eventsOf(...bodies))

function applied(events: readonly SessionEvent[]): TranscriptModel {
  const model = new TranscriptModel()
  for (const event of events) model.apply(event)
  return model
}

/** The same events, but those after `at` first and then the others in front of them. */
function inTwo(events: readonly SessionEvent[], at: number): TranscriptModel {
  const later = applied(events.slice(at))
  later.prepend(applied(events.slice(0, at)))
  return later
}

const said = ({ parts }: TranscriptModel): string =>
  parts.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('')

const text = (words: string): Body => ({ type: 'text-delta', text: words })

test('15.4 the steps of a tool call are one part, whatever is said in between', () => {
  const { parts } = transcriptOf(
    { type: 'tool-call', toolCallId: 'a', title: 'Run', input: { command: 'ls' } },
    text('meanwhile'),
    { type: 'tool-result', toolCallId: 'a', status: 'completed', output: 'done' },
  )
  expect(parts.map(({ type }) => type)).toEqual(['tool', 'text'])
  expect(parts[0]).toMatchObject({ call: { title: 'Run', status: 'completed', output: 'done' }, revision: 1 })
})

test('15.4 a long text is in parts that end with a paragraph, never inside of code, and nothing of it is lost', () => {
  const code = `\`\`\`\n${'code\n\n'.repeat(400)}\`\`\``
  const words = ['a word\n\n'.repeat(300), code, '\n\nthe end']
  const { parts } = transcriptOf(...words.map(text))
  expect(parts.length).toBeGreaterThan(1)
  const shown = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  expect(shown.replaceAll(/\s/g, '')).toBe(words.join('').replaceAll(/\s/g, ''))
})

test('15.4 a word without an end is in bounded parts', () => {
  const word = '\u{1F600}'.repeat(50_000)
  const { parts } = transcriptOf(text(word), text('y'))
  const texts = parts.map((part) => (part.type === 'text' ? part.text : ''))
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(12_000)
  expect(texts.every((each) => !/\p{Surrogate}/u.test(each))).toBe(true)
  expect(texts.join('')).toBe(`${word}y`)
  expect(new Set(parts.map(({ key }) => key)).size).toBe(parts.length)
})

test('15.4 the prompts are kept for the history of the prompt box, the last plan for its place', () => {
  const model = transcriptOf(
    { type: 'user-prompt', content: [{ type: 'text', text: 'one' }] },
    { type: 'plan', entries: [{ content: 'a', status: 'pending' }] },
    { type: 'plan', entries: [{ content: 'a', status: 'completed' }] },
  )
  expect(model.prompts).toEqual(['one'])
  expect(model.plan).toEqual([{ content: 'a', status: 'completed' }])
})

test('15.4 a long block of code is one block in several parts: each but the first opens it again, to its end', () => {
  const line = 'const a = `one` // ``` is no fence here\n'
  const { parts } = transcriptOf(text('Look:\n\n````ts\n'), text(line.repeat(500)), text('````\n\nThat is all.'))
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part] : []))
  const [before, first, ...more] = texts
  expect([before?.text, first?.fence]).toEqual(['Look:', undefined])
  expect(new Set(more.slice(0, -1).map(({ fence }) => fence))).toEqual(new Set(['````ts']))
  expect(more.at(-1)).toMatchObject({ fence: undefined, text: 'That is all.' })
  expect(more.length).toBeGreaterThan(3)
  expect(texts.every((part) => part.text.length <= 6_000)).toBe(true)
  const joined = texts.slice(1, -1).map((part) => part.text)
  expect(joined.join('\n')).toBe(`\`\`\`\`ts\n${line.repeat(500)}\`\`\`\``)
})

const WORK: readonly Body[] = [
  { type: 'user-prompt', content: [{ type: 'text', text: 'do it' }] },
  { type: 'plan', entries: [{ content: 'a', status: 'pending' }] },
  { type: 'tool-call', toolCallId: 'a', title: 'Run', input: { command: 'ls' } },
  text('```ts\none\n'),
  text('two\n```\n'),
  {
    type: 'agent-prompt',
    requestId: 'r',
    request: { kind: 'permission', options: [], toolCall: { type: 'tool-call', toolCallId: 'a' } },
  },
  { type: 'agent-prompt-resolved', requestId: 'r', answer: { outcome: 'cancelled' }, by: { type: 'timeout' } },
  { type: 'tool-result', toolCallId: 'a', status: 'completed', output: 'done' },
  { type: 'turn-end', reason: 'end_turn' },
  { type: 'user-prompt', content: [{ type: 'text', text: 'again' }] },
  { type: 'tool-call', toolCallId: 'a', title: 'Run again' },
  { type: 'tool-result', toolCallId: 'a', status: 'failed' },
  { type: 'turn-end', reason: 'end_turn' },
]

test('15.4 earlier events that are put in front make the transcript that all of them make at once', () => {
  const events = eventsOf(...WORK)
  const whole = applied(events)
  for (let at = 1; at < events.length; at++) {
    const joined = inTwo(events, at)
    expect(said(joined).replaceAll('<tool>', '')).toBe(said(whole).replaceAll('<tool>', ''))
    expect({ plan: joined.plan, prompts: joined.prompts, lastSeq: joined.lastSeq }).toEqual({
      plan: whole.plan,
      prompts: whole.prompts,
      lastSeq: whole.lastSeq,
    })
    expect(callsOf(joined)).toEqual(callsOf(whole))
    expect(endsOf(joined).filter(Boolean)).toEqual(endsOf(whole).filter(Boolean))
    expect(new Set(joined.parts.map(({ key }) => key)).size).toBe(joined.parts.length)
  }
})

const callsOf = ({ parts }: TranscriptModel) =>
  parts.flatMap((part) => (part.type === 'tool' ? [[part.call.title, part.call.status, part.call.output]] : []))

/** What is known only from an event before: how long a turn took, what was answered. */
const endsOf = ({ parts }: TranscriptModel): readonly unknown[] =>
  parts.map((part) => {
    if (part.type === 'turn-end') return part.seconds
    return part.type === 'request' ? part.resolved?.answer.outcome : ''
  })

test('15.4 a running call whose beginning is loaded later is still one call when it ends', () => {
  const [prompt, , call, , , , , result] = eventsOf(...WORK)
  if (prompt === undefined || call === undefined || result === undefined) throw new Error('The work has fewer events')
  const model = applied([])
  model.prepend(applied([prompt, call]))
  model.apply(result)
  expect(callsOf(model)).toEqual([['Run', 'completed', 'done']])
})

test('15.4 a block of code that began before what is loaded is opened again when its beginning comes in front', () => {
  const lines = Array.from({ length: 300 }, (_, n) => text(`line ${n} of the code, which is long enough\n`))
  const events = eventsOf(text('```ts\n'), ...lines, text('```\nthe end'))
  const joined = inTwo(events, 150)
  const fences = joined.parts.map((part) => (part.type === 'text' ? part.fence : ''))
  expect(fences.length).toBeGreaterThan(2)
  expect(fences).toEqual([undefined, ...fences.slice(1).map(() => '```ts')])
})
