import type { AgentSignal } from '@agentproto/contracts/agent'
import type { RegistryConfig } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { echo, scripted, type Script } from './fixtures/scripted-agent.js'
import { allEvents, memoryRegistry, owner, resumableAdapters, types } from './fixtures/test-registry.js'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Silent until it is cancelled; says what the test makes it say. */
const silent: Script = async ({ cancelled, emit }) => {
  await cancelled
  await emit({ type: 'turn-end', reason: 'cancelled' })
}
const deaf: Script = () => new Promise(() => undefined)

async function running(script: Script, config: Partial<RegistryConfig> = {}) {
  const agents = scripted(script)
  const { registry, clock } = await memoryRegistry({ ...agents, config })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'go' }, owner)
  await settled()
  const say = async (...signals: AgentSignal[]): Promise<void> => {
    await agents.agents[0]?.sink.emit(signals)
  }
  const count = async (type: string): Promise<number> =>
    types(await allEvents(registry, id)).filter((each) => each === type).length
  return { registry, clock, id, say, count }
}

test('F2 a turn that has been silent for 30 minutes is cancelled and ends as timeout', async () => {
  const { registry, clock, id } = await running(silent)
  await clock.advance(30 * MINUTE - 1)
  expect(await registry.get(id)).toMatchObject({ turn: { state: 'busy' } })
  await clock.advance(1)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'timeout' })
  expect(await registry.get(id)).toMatchObject({ status: 'running', turn: { state: 'idle' } })
})

test('a turn that does not end within the grace of its cancel ends its session as timeout', async () => {
  const { registry, clock, id } = await running(deaf)
  await clock.advance(30 * MINUTE + 30 * SECOND - 1)
  expect(await registry.get(id)).toMatchObject({ status: 'running' })
  await clock.advance(1)
  expect(await registry.get(id)).toMatchObject({
    status: 'killed',
    stopReason: 'timeout',
    failure: { kind: 'timeout' },
  })
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'timeout' })
})

test('F3 any sign of life postpones the end, and a running tool has a budget of its own', async () => {
  const { registry, clock, id, say } = await running(silent)
  await clock.advance(29 * MINUTE)
  await say({ type: 'usage', used: 1 })
  await clock.advance(29 * MINUTE)
  expect(await registry.get(id)).toMatchObject({ turn: { state: 'busy' } })
  await say({ type: 'tool-call', toolCallId: 't', title: 'build' })
  await clock.advance(119 * MINUTE)
  expect(await registry.get(id)).toMatchObject({ turn: { state: 'busy', currentTool: 'build' } })
  await clock.advance(MINUTE)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'timeout' })
})

test('F4 a turn that a background task of the agent has swallowed times out, and the next prompt is answered', async () => {
  // What it says is about something else; the prompt is never answered.
  const script: Script = (turn) => (turn.text === 'go' ? silent(turn) : echo(turn))
  const { registry, clock, id, say } = await running(script)
  await say({ type: 'text-delta', text: 'A task in the background has ended.' })
  await clock.advance(30 * MINUTE)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'timeout' })
  const { turn } = await registry.prompt(id, { prompt: 'and now?' }, owner)
  expect(await registry.waitTurn(id, turn)).toMatchObject({ reason: 'end_turn', text: 'echo: and now?' })
})

test('F10 an agent that retries its provider counts as silent although it writes to stderr, which is kept', async () => {
  const { registry, clock, id, say, count } = await running(silent)
  for (let minute = 0; minute < 30; minute += 1) {
    await say({ type: 'output', stream: 'stderr', text: 'HTTP 429, trying again' })
    await clock.advance(MINUTE)
  }
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'timeout' })
  expect([await count('output'), await count('runtime-warning')]).toEqual([30, 1])
})

test('a long turn reports progress every 10 minutes and warns of silence once, after 15', async () => {
  const { clock, count, say } = await running(silent)
  for (let minute = 0; minute < 60; minute += 1) {
    await clock.advance(MINUTE)
    if (minute % 20 === 19) await say({ type: 'text-delta', text: '.' })
  }
  expect(await count('runtime-progress')).toBe(6)
  expect(await count('runtime-warning')).toBe(1)
})

test('the time that a turn waits for a person does not count as silence', async () => {
  const asking: Script = async ({ ask, emit }) => {
    await ask({ kind: 'question', message: '?', mode: 'form' })
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const { registry, clock, id, count } = await running(asking, { requestTimeoutMs: 100 * MINUTE })
  await clock.advance(99 * MINUTE)
  expect(await registry.get(id)).toMatchObject({ turn: { state: 'awaiting-input' } })
  expect(await count('runtime-warning')).toBe(0)
})

test('a heartbeat reports a silent turn to watchers, and is not logged', async () => {
  const { registry, clock, id } = await running(silent)
  const before = (await allEvents(registry, id)).length
  const watcher = registry.watch()
  const told = watcher.next()
  await clock.advance(31 * SECOND)
  expect(await told).toMatchObject([{ type: 'session', session: { id } }])
  expect(await allEvents(registry, id)).toHaveLength(before)
  watcher.close()
})

test.each([
  ['heartbeatMs', { heartbeatMs: 1_000 }],
  ['progressMs', { progressMs: 1_000 }],
  ['warningMs', { warningMs: 1_000 }],
  ['inactivityMs', { inactivityMs: 1_000 }],
] as const)('%s can be set', async (_, config) => {
  const { registry, clock, id } = await running(silent, config)
  const watcher = registry.watch()
  let told = false
  void watcher.next().then(() => (told = true))
  const before = (await allEvents(registry, id)).length
  await clock.advance(1_500)
  const grown = (await allEvents(registry, id)).length > before
  expect([told || grown, grown]).toEqual([true, !('heartbeatMs' in config)])
  watcher.close()
})

test('toolBudgetMs and cancelGraceMs can be set', async () => {
  const { registry, clock, id, say } = await running(deaf, {
    toolBudgetMs: 5_000,
    cancelGraceMs: 1_000,
    inactivityMs: 1_000,
  })
  await say({ type: 'tool-call', toolCallId: 't', title: 'build' })
  await clock.advance(5_999)
  expect(await registry.get(id)).toMatchObject({ status: 'running' })
  await clock.advance(1)
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'timeout' })
})

test('a tool whose budget is short is cancelled at its end, not at the next look', async () => {
  const { registry, clock, id, say } = await running(silent, { toolBudgetMs: 5_000, inactivityMs: 60_000 })
  await say({ type: 'tool-call', toolCallId: 't', title: 'build' })
  await clock.advance(5_000)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'timeout' })
})

test('an idle session that can be resumed hibernates after 10 minutes, and its next prompt resumes it', async () => {
  const agents = scripted(echo, { resume: true })
  const { registry, clock } = await memoryRegistry({ ...agents, adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  await clock.advance(10 * MINUTE - 1)
  expect(await registry.get(id)).toMatchObject({ status: 'running' })
  await clock.advance(1)
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'idle' })
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'two' }, owner)).turn)
  expect(await registry.get(id)).toMatchObject({ status: 'running', resumedHow: 'resume', turnCount: 2 })
  expect(agents.agents).toHaveLength(2)
})

test('an idle session that cannot be resumed stays; idleMs can be set', async () => {
  const { registry, clock } = await memoryRegistry({ ...scripted(), config: { idleMs: 1_000 } })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await clock.advance(24 * 60 * MINUTE)
  expect(await registry.get(id)).toMatchObject({ status: 'running' })
  const resumable = await memoryRegistry({
    ...scripted(echo, { load: true }),
    adapters: resumableAdapters,
    config: { idleMs: 1_000 },
  })
  const sleeper = await resumable.registry.spawn({ adapter: 'fake' }, owner)
  await resumable.clock.advance(1_000)
  expect(await resumable.registry.get(sleeper.id)).toMatchObject({ stopReason: 'idle' })
})

test('a session with a time to live ends as expired, busy or not; a wall-clock limit ends it as timeout', async () => {
  const ttl = await memoryRegistry(scripted(deaf))
  const mortal = await ttl.registry.spawn({ adapter: 'fake', prompt: 'x', ttlSeconds: 60 }, owner)
  expect(mortal.expiresAt).toBe('2026-11-21T12:01:00.000Z')
  await ttl.clock.advance(MINUTE)
  expect(await ttl.registry.get(mortal.id)).toMatchObject({ status: 'killed', stopReason: 'expired' })
  const limited = await memoryRegistry({ ...scripted(), config: { maxDurationMs: 5_000 } })
  const { id } = await limited.registry.spawn({ adapter: 'fake' }, owner)
  await limited.clock.advance(5_000)
  expect(await limited.registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'timeout' })
})

test.each([
  ['its time to live', { ttlSeconds: 60 }, {}],
  ['the longest duration', {}, { maxDurationMs: MINUTE }],
])('12.B1 a session past %s is not resumable and says why, however it ended', async (_, request, config) => {
  const agents = scripted(echo, { resume: true })
  const { registry, clock } = await memoryRegistry({ ...agents, adapters: resumableAdapters, config })
  const [over, killed] = [
    await registry.spawn({ adapter: 'fake', ...request }, owner),
    await registry.spawn({ adapter: 'fake', ...request }, owner),
  ]
  await registry.kill(killed.id, owner)
  expect(await registry.get(killed.id)).toMatchObject({ status: 'killed', resumable: true })
  await clock.advance(MINUTE)
  for (const { id } of [over, killed]) {
    expect(await registry.get(id)).toMatchObject({ status: 'killed', resumable: false })
    for (const fresh of [false, true])
      await expect(registry.resume(id, { fresh }, owner)).rejects.toMatchObject({
        code: 'not_resumable',
        message: expect.stringContaining('reached the end of its time') as string,
      })
    await expect(registry.prompt(id, { prompt: 'again' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
  }
  expect(agents.agents).toHaveLength(2)
})
