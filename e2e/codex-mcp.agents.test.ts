import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { driveCodexMcp } from './support/codex.js'
import { choose, textOf } from './support/driven-agent.js'
import { needs } from '../tooling/needs.ts'

// A real agent that is an MCP server, through the driver alone. The manifest says what Codex's own messages mean.

/** Codex starts slowly while other tests run. */
const PATIENCE = { timeout: 20_000 }

test('Codex as an MCP server remembers, and streams its answer', needs('codex'), async () => {
  const { session, say, notices } = await driveCodexMcp()
  expect(session.info).toMatchObject({ name: 'codex-mcp-server', version: '0.140.0' })
  expect(session.agentSessionId).toBe('')
  const first = await say('my number is 4711')
  expect(textOf(first)).toBe('echo: my number is 4711')
  expect(first.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(1)
  expect(first.at(-1)).toEqual({ type: 'turn-end', reason: 'end_turn' })
  const thread = session.agentSessionId
  expect(thread).toMatch(/^[0-9a-f-]{36}$/)
  expect(textOf(await say('RECALL'))).toBe('RECALL:my number is 4711')
  expect(session.agentSessionId).toBe(thread)
  expect(notices).toContainEqual(expect.objectContaining({ type: 'usage', size: expect.any(Number) as number }))
  // Every message was recognised.
  expect(notices.filter(({ type }) => type === 'extension')).toEqual([])
})

test('thoughts and plans of Codex become thought and plan events', needs('codex'), async () => {
  const { say, notices } = await driveCodexMcp()
  const events = await say('THINK')
  expect(events.map(({ type }) => type)).toContain('thought')
  await say('PLAN')
  expect(notices).toContainEqual(expect.objectContaining({ type: 'plan' }))
})

test('Codex asks for a permission, gets it, and writes the file', needs('codex'), async () => {
  const { say, asked, cwd } = await driveCodexMcp({ answer: choose('allow_once') })
  const events = await say('WRITE hello.txt')
  expect(asked).toMatchObject([{ kind: 'permission', toolCall: { kind: 'edit', toolName: 'apply_patch' } }])
  expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('mock wrote hello.txt\n')
  const results = events.filter((event) => event.type === 'tool-result')
  expect(results).toMatchObject([{ status: 'completed', kind: 'edit', locations: [{ path: join(cwd, 'hello.txt') }] }])
  expect(events.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
})

test('Codex is refused, reports it to the model, and does not write the file', needs('codex'), async () => {
  const { say, cwd } = await driveCodexMcp({ answer: choose('reject_once') })
  const events = await say('WRITE hello.txt')
  expect(existsSync(join(cwd, 'hello.txt'))).toBe(false)
  expect(events).toContainEqual(expect.objectContaining({ type: 'tool-result', status: 'failed' }))
  expect(textOf(events)).toContain('patch rejected by user')
  expect(events.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
})

test('Codex is interrupted in its first turn, and remembers that turn', needs('codex'), async () => {
  const { session, say, mock } = await driveCodexMcp()
  const events: string[] = []
  let interrupted = 0
  for await (const event of session.send('SLOW 100')) {
    events.push(event.type === 'turn-end' ? event.reason : event.type)
    if (event.type !== 'text-delta' || interrupted > 0) continue
    interrupted = performance.now()
    await session.cancel()
  }
  expect(performance.now() - interrupted).toBeLessThan(10_000)
  expect(events.at(-1)).toBe('cancelled')
  // The request to the model was cancelled, too.
  await expect.poll(() => mock.log.some(({ last, aborted }) => last === 'SLOW 100' && aborted), PATIENCE).toBe(true)
  // After a cancel, Codex answers the next call under the id of the cancelled one, or not at all.
  expect(textOf(await say('RECALL'))).toBe('RECALL:SLOW 100')
  expect(textOf(await say('hello'))).toBe('echo: hello')
})

test('F22 Codex, killed during a command, leaves no process', needs('codex'), async () => {
  const { session, mark } = await driveCodexMcp({ answer: choose('allow_once') })
  const reading = (async () => {
    const reasons: string[] = []
    for await (const event of session.send('ESCALATE RUN sleep 300'))
      if (event.type === 'turn-end') reasons.push(event.reason)
    return reasons
  })()
  await expect.poll(() => mark.living().join('\n'), PATIENCE).toContain('sleep 300')
  await session.close()
  expect(mark.living()).toEqual([])
  expect(await reading).toEqual(['cancelled'])
})

test(
  'a failing model is one error; Codex would answer out of order, so the conversation ends',
  needs('codex'),
  async () => {
    const { say } = await driveCodexMcp()
    const events = await say('FAIL 500')
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
    expect(await say('hello')).toMatchObject([
      { type: 'error', message: expect.stringContaining('Start a new session') as string },
      { reason: 'error' },
    ])
  },
)
