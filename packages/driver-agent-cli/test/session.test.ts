import type { AgentNotice, AgentRequest } from '@agentproto/contracts'
import { findMarkedProcesses, identify } from '@agentproto/subprocess'
import { defineAgentCli } from '@agentproto/driver-agent-cli'
import { expect, onTestFinished, test } from 'vitest'
import { document, host, say, small, start, textOf } from './small-agent.ts'

test('a turn is read event by event, and ends', async () => {
  const session = await start()
  const events = await say(session, 'stream')
  expect(textOf(events)).toBe(Array.from({ length: 5000 }, (_, i) => `${i} `).join(''))
  expect(events.at(-1)).toEqual({ type: 'turn-end', reason: 'end_turn' })
  expect(events).toHaveLength(5001)
})

test('a session reports its sandbox', async () => {
  const reason = 'the manifest asks for no confinement'
  expect((await start()).sandbox).toEqual({ provider: 'local', enforced: false, reason })
})

test('a slow reader loses nothing', async () => {
  const session = await start()
  let read = 0
  for await (const event of session.send('stream')) {
    if (read++ % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    if (event.type === 'turn-end') break
  }
  expect(read).toBe(5001)
})

test('leaving the loop early cancels the turn; the next one runs', async () => {
  const session = await start()
  for await (const event of session.send('stream')) if (event.type === 'text-delta') break
  await expect.poll(async () => (await say(session, 'plan').catch(() => [])).at(-1)?.type).toBe('turn-end')
})

test('a second turn is refused while one runs; cancel ends it', async () => {
  const session = await start()
  const running = say(session, 'hang')
  await expect(say(session, 'plan')).rejects.toMatchObject({ code: 'turn_in_progress' })
  await session.cancel()
  expect(await running).toEqual([{ type: 'turn-end', reason: 'cancelled', empty: true }])
})

test('a request is an event, and answered by the callback of the host', async () => {
  const asked: AgentRequest[] = []
  const session = await start({
    onRequest: (request) => (asked.push(request), { outcome: 'selected', optionId: 'ok' }),
  })
  const events = await say(session, 'ask')
  expect(events.map(({ type }) => type)).toEqual(['tool-call', 'agent-prompt', 'text-delta', 'tool-result', 'turn-end'])
  expect(events[1]).toMatchObject({ requestId: expect.stringMatching(/^req_/), request: asked[0] })
  expect(textOf(events)).toBe('{"outcome":{"outcome":"selected","optionId":"ok"}}')
})

test('without anybody to answer, a request is cancelled', async () => {
  expect(textOf(await say(await start(), 'ask'))).toBe('{"outcome":{"outcome":"cancelled"}}')
})

test('what is no event of the turn goes to its own listener', async () => {
  const notices: AgentNotice[] = []
  const session = await start({ onNotice: (notice) => void notices.push(notice) })
  expect((await say(session, 'plan')).map(({ type }) => type)).toEqual(['turn-end'])
  expect(notices).toEqual([{ type: 'plan', entries: [] }])
})

test('a session is closed with its scope, and refuses what comes after', async () => {
  const session = await small().start()
  const marker = (JSON.parse(textOf(await say(session, 'start'))) as { env: Record<string, string> }).env[
    'AGENTPROTO_SESSION_ID'
  ]
  expect(findMarkedProcesses(marker)).toHaveLength(1)
  await session[Symbol.asyncDispose]()
  expect(findMarkedProcesses(marker)).toEqual([])
  await expect(say(session, 'x')).rejects.toMatchObject({ code: 'session_ended' })
  expect(await session.close()).toEqual({ exitCode: 0 })
})

test('F22 a stubborn agent in the middle of a turn, and its grandchild, are gone soon after the default graces', async () => {
  const session = await start({}, { limits: {} })
  const turn = session.send('stubborn')
  const { value } = await turn.next()
  const pids = JSON.parse(value?.type === 'text-delta' ? value.text : '[]') as number[]
  expect(pids).toHaveLength(2)
  const before = performance.now()
  expect(await session.close()).toEqual({ signal: 'SIGKILL' })
  // They are 7.5 s; a busy machine adds its own.
  expect(performance.now() - before).toBeLessThan(20_000)
  expect(pids.map((pid) => identify(pid))).toEqual([undefined, undefined])
  expect(await turn.next()).toMatchObject({ value: { type: 'turn-end', reason: 'cancelled' } })
})

test('13.5 the tokens of an agent are where its manifest says', async () => {
  const usage = { input_tokens: 'count.in', output_tokens: 'count.out' }
  const session = await defineAgentCli({ ...document, metadata: { agentproto: { usage } } }, host).start()
  onTestFinished(async () => void (await session.close()))
  expect((await say(session, 'tokens')).at(-1)).toMatchObject({
    type: 'turn-end',
    usage: { inputTokens: 7, outputTokens: 2 },
  })
})
