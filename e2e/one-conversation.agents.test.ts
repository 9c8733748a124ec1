import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StreamEvent } from '@agentproto/driver-agent-cli'
import { expect, test } from 'vitest'
import { driveCodexAcp, driveCodexMcp } from './support/codex.js'
import { choose, textOf, type DrivenAgent, type Driving } from './support/driven-agent.js'
import { driveGemini } from './support/gemini.js'
import { driveOpenCode } from './support/opencode.js'
import { needs } from '../tooling/needs.ts'

// The same conversation with five real agents over three protocols, through the driver alone, gives the same events.

interface Agent {
  readonly name: string
  readonly protocol: string
  /** Whether it asks before it writes; otherwise a mode decides what it may do. */
  readonly asks: boolean
  start(options: Omit<Driving, 'env'>): Promise<DrivenAgent>
}

const AGENTS: readonly Agent[] = [
  { name: 'OpenCode', protocol: 'acp', asks: true, start: driveOpenCode },
  { name: 'Gemini CLI', protocol: 'acp', asks: true, start: (options) => driveGemini('acp', options) },
  {
    name: 'Gemini CLI headless',
    protocol: 'proprietary',
    asks: false,
    start: (options) => driveGemini('headless', { ...options, mode: 'auto-edit' }),
  },
  {
    name: 'Codex',
    protocol: 'acp',
    asks: true,
    start: (options) => driveCodexAcp({ ...options, mode: 'read-only' }),
  },
  { name: 'Codex', protocol: 'mcp', asks: true, start: driveCodexMcp },
]

const ANSWER = ['text-delta', 'turn-end end_turn']

test.each(AGENTS)(
  '$name over $protocol',
  { ...needs('opencode', 'gemini', 'codex', 'codex-acp'), timeout: 180_000 },
  async ({ asks, start }) => {
    const { session, say, cwd, asked, mark } = await start({ answer: choose('allow_once') })

    const first = await say('my number is 4711')
    expect([shapeOf(first), textOf(first)]).toEqual([ANSWER, 'echo: my number is 4711'])
    const memory = await say('RECALL')
    expect([shapeOf(memory), textOf(memory)]).toEqual([ANSWER, 'RECALL:my number is 4711'])

    const written = await say('WRITE hello.txt')
    const question = asks ? ['agent-prompt'] : []
    expect(shapeOf(written)).toEqual(['text-delta', 'tool-call', ...question, 'tool-result completed', ...ANSWER])
    expect(new Set(written.flatMap((event) => ('toolCallId' in event ? [event.toolCallId] : []))).size).toBe(1)
    expect(written).toContainEqual(expect.objectContaining({ type: 'tool-call', kind: 'edit' }))
    expect(asked.map(({ kind }) => kind)).toEqual(asks ? ['permission'] : [])
    expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('mock wrote hello.txt\n')

    const interrupted: StreamEvent[] = []
    for await (const event of session.send('SLOW 100')) {
      interrupted.push(event)
      if (event.type === 'text-delta') await session.cancel()
    }
    expect(shapeOf(interrupted)).toEqual(['text-delta', 'turn-end cancelled'])
    const last = await say('hello')
    expect([shapeOf(last), textOf(last)]).toEqual([ANSWER, 'echo: hello'])

    await session.close()
    expect(mark.living()).toEqual([])
  },
)

/** The sequence of event types, without repetitions. */
function shapeOf(events: readonly StreamEvent[]): readonly string[] {
  const kinds = events.map((event) => {
    if (event.type === 'turn-end') return `turn-end ${event.reason}`
    return event.type === 'tool-result' ? `tool-result ${event.status}` : event.type
  })
  return kinds.filter((kind, index) => kind !== kinds[index - 1])
}
