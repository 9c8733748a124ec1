import type { SessionEvent } from '@agentproto/client'
import { expect, test } from 'vitest'
import { TranscriptModel } from '../web/transcript/transcript.js'

type Body = SessionEvent extends infer E
  ? E extends SessionEvent
    ? Omit<E, 'seq' | 'ts' | 'turn' | 'sessionId'>
    : never
  : never

function transcriptOf(...bodies: readonly Body[]): TranscriptModel {
  const model = new TranscriptModel()
  bodies.forEach((body, index) => {
    const event = { ...body, seq: index + 1, ts: '2026-11-22T00:00:00.000Z', turn: 1, sessionId: 's' }
    model.apply(event)
  })
  return model
}

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
