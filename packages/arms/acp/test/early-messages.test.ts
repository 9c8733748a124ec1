import type { Json } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { AGENT_BOUNDS } from '../src/agent-bounds.ts'
import { EarlyMessages } from '../src/early-messages.ts'
import { parseToolUpdate } from '../src/tool-call.ts'

const update = (text: string): Json => ({ sessionId: 's1', update: { sessionUpdate: 'plan', text } })
const MEBIBYTE = 'x'.repeat(1024 * 1024)

test('updates before a session is open are kept up to a number and up to a size, and there is room again after them', () => {
  const delivered: Json[] = []
  const early = new EarlyMessages((params) => void delivered.push(params))
  for (const [text, kept] of [
    [MEBIBYTE, AGENT_BOUNDS.earlyChars / MEBIBYTE.length - 1],
    ['small', AGENT_BOUNDS.earlyMessages],
  ] as const) {
    early.opening(1)
    const isKept = Array.from({ length: AGENT_BOUNDS.earlyMessages + 1 }, () => early.keepUpdate(update(text)))
    expect(isKept.filter(Boolean)).toHaveLength(kept)
    expect(early.opened()).toBe(true)
    expect(delivered.splice(0)).toHaveLength(kept)
  }
})

test('notices before a session is open are kept up to a number and up to a size', () => {
  const early = new EarlyMessages(() => undefined)
  for (const [text, kept] of [
    [MEBIBYTE, AGENT_BOUNDS.earlyChars / MEBIBYTE.length - 1],
    ['small', AGENT_BOUNDS.earlyMessages],
  ] as const) {
    for (let sent = 0; sent <= AGENT_BOUNDS.earlyMessages; sent++)
      early.keepNotice({ type: 'output', stream: 'stdout', text })
    expect(early.takeNotices()).toHaveLength(kept)
  }
})

test('a call with an id that is too long is none', () => {
  expect(parseToolUpdate({ toolCallId: 'x'.repeat(AGENT_BOUNDS.callIdChars) })).toBeDefined()
  expect(parseToolUpdate({ toolCallId: 'x'.repeat(AGENT_BOUNDS.callIdChars + 1) })).toBeUndefined()
})
