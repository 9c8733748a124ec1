import { promptKey, Prompts, Replay } from '../src/network/replay.ts'
import { expect, test } from 'vitest'

const MEGABYTE = 1 << 20
const chunk = (sessionUpdate: string, text: string) => ({ sessionUpdate, content: { type: 'text', text } })
const prompt = (text: string) => chunk('user_message_chunk', text)
const said = (text: string) => chunk('agent_message_chunk', text)
const known = (text: string) => ({
  prompt: promptKey([{ type: 'text', text: 'go' }]),
  said: { 'text-delta': text, thought: '' },
  calls: new Set<string>(),
  isWhole: true,
})

test('a history with more of one turn than is kept has nothing new, and one with less has', () => {
  const news = (megabytes: number): number => {
    const replay = new Replay(known('one '))
    for (const update of [prompt('go'), said('one ')]) replay.add(update)
    for (let at = 0; at < megabytes; at++) replay.add(said('x'.repeat(MEGABYTE)))
    return replay.news().length
  }
  expect(news(10)).toBe(10)
  expect(news(40)).toBe(0)
})

test('a history forgets its first prompts when all are too long to be kept, and a prompt that never ends is cut', () => {
  const prompts = new Prompts()
  for (let at = 0; at < 40; at++) {
    prompts.add(prompt(`${at} ${'x'.repeat(MEGABYTE)}`), at)
    prompts.add(said('answer'), at)
  }
  const key = (at: number): string => `${at}${'x'.repeat(MEGABYTE)}`
  expect(prompts.numberOf(key(39))).toBe(39)
  expect(prompts.numberOf(key(0))).toBeUndefined()
  for (let at = 0; at < 40; at++) prompts.add(prompt('y'.repeat(MEGABYTE)), 41)
  expect(prompts.last.length).toBeLessThan(8 * MEGABYTE)
})
