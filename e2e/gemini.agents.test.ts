import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { choose, textOf } from './support/driven-agent.js'
import { driveGemini, geminiHome, type GeminiWay } from './support/gemini.js'
import { needs } from '../tooling/needs.ts'

// One real agent over two protocols, through the driver alone: the same conversation gives the same events.

/** Gemini CLI starts slowly while other tests run. */
const PATIENCE = { timeout: 60_000 }

test.each<GeminiWay>(['acp', 'headless'])(
  'Gemini CLI remembers, and streams its answer (%s)',
  needs('gemini'),
  async (way) => {
    const { say } = await driveGemini(way)
    const first = await say('my number is 4711')
    expect(textOf(first)).toBe('echo: my number is 4711')
    expect(first.filter(({ type }) => type !== 'text-delta')).toMatchObject([{ type: 'turn-end', reason: 'end_turn' }])
    expect(first.length).toBeGreaterThan(2)
    expect(textOf(await say('RECALL'))).toBe('RECALL:my number is 4711')
  },
)

test.each<GeminiWay>(['acp', 'headless'])(
  'Gemini CLI writes a file when it is allowed (%s)',
  needs('gemini'),
  async (way) => {
    // Without ACP it cannot ask, so that a mode decides what it may do.
    const { say, cwd } = await driveGemini(
      way,
      way === 'acp' ? { answer: choose('allow_once') } : { mode: 'auto-edit' },
    )
    const events = await say('WRITE hello.txt')
    expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('mock wrote hello.txt\n')
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-result', status: 'completed' }))
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
  },
)

test('without ACP and without a mode, Gemini CLI has no tool that writes', needs('gemini'), async () => {
  const { say, cwd } = await driveGemini('headless')
  await say('WRITE hello.txt')
  expect(existsSync(join(cwd, 'hello.txt'))).toBe(false)
})

test.each<GeminiWay>(['acp', 'headless'])(
  'Gemini CLI is interrupted, and the session continues (%s)',
  needs('gemini'),
  async (way) => {
    const { session, say, mock } = await driveGemini(way)
    await say('my number is 4711')
    const reasons: string[] = []
    let interrupted = 0
    for await (const event of session.send('SLOW 100')) {
      if (event.type === 'turn-end') reasons.push(event.reason)
      if (event.type !== 'text-delta' || interrupted > 0) continue
      interrupted = performance.now()
      await session.cancel()
    }
    expect(performance.now() - interrupted).toBeLessThan(10_000)
    expect(reasons).toEqual(['cancelled'])
    await expect.poll(() => mock.log.some(({ last, aborted }) => last === 'SLOW 100' && aborted), PATIENCE).toBe(true)
    expect(textOf(await say('hello'))).toBe('echo: hello')
  },
)

test.each<GeminiWay>(['acp', 'headless'])(
  'F22 Gemini CLI, killed during a command, leaves no process (%s)',
  needs('gemini'),
  async (way) => {
    const { session, mark } = await driveGemini(
      way,
      way === 'acp' ? { answer: choose('allow_once') } : { mode: 'yolo' },
    )
    const reading = (async () => {
      const reasons: string[] = []
      for await (const event of session.send('RUN sleep 300')) if (event.type === 'turn-end') reasons.push(event.reason)
      return reasons
    })()
    await expect.poll(() => mark.living().join('\n'), PATIENCE).toContain('sleep 300')
    await session.close()
    expect(mark.living()).toEqual([])
    expect(await reading).toEqual(['cancelled'])
  },
)

test('a later run continues a conversation without ACP', needs('gemini'), async () => {
  const home = await geminiHome()
  const first = await driveGemini('headless', { home })
  await first.say('my number is 4711')
  const { agentSessionId } = first.session
  await first.session.close()
  const second = await driveGemini('headless', { home, origin: { how: 'resume', agentSessionId }, cwd: first.cwd })
  expect(textOf(await second.say('RECALL'))).toBe('RECALL:my number is 4711')
})

test.each<GeminiWay>(['acp', 'headless'])('a failing model is an error (%s)', needs('gemini'), async (way) => {
  const { say } = await driveGemini(way)
  const events = await say('FAIL 400')
  expect(events.filter(({ type }) => type === 'error')).toHaveLength(1)
  expect(events.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
})
