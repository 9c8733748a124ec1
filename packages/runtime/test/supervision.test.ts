import { readFileSync } from 'node:fs'
import type { Principal, SessionEvent } from '@agentproto/contracts'
import type { SessionService } from '@agentproto/contracts/wire'
import type { GatewayOptions } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// Each key once on a real process that is slow; what they mean exactly is tested on a clock in session-registry.

const owner: Principal = { type: 'owner', name: 'owner' }
const patient = { timeout: 30_000 }

async function gatewayWith(sessions: NonNullable<GatewayOptions['sessions']>) {
  const home = await temporaryHome()
  const gateway = await testGateway({ home, sessions })
  const { sessions: service } = gateway
  const start = async (prompt?: string, more: object = {}): Promise<string> =>
    (await service.spawn({ adapter: 'demo', cwd: home, ...(prompt && { prompt }), ...more }, owner)).id
  return { sessions: service, start, home }
}

async function eventsOf(sessions: SessionService, id: string): Promise<readonly SessionEvent[]> {
  const { records } = await sessions.events(id, 0, 1_000)
  return records.map(({ json }) => JSON.parse(json) as SessionEvent)
}

const typesOf = async (sessions: SessionService, id: string): Promise<readonly string[]> =>
  (await eventsOf(sessions, id)).map(({ type }) => type)

const stopOf = async (sessions: SessionService, id: string): Promise<string | undefined> =>
  (await sessions.get(id)).stopReason

test('a silent agent is watched: first its progress is reported, then its silence', async () => {
  const { sessions, start } = await gatewayWith({ progressMs: 150, warningMs: 400, heartbeatMs: 100 })
  const watcher = sessions.watch()
  const id = await start('hang')
  await expect.poll(() => typesOf(sessions, id), patient).toContain('runtime-warning')
  const types = await typesOf(sessions, id)
  expect(types.indexOf('runtime-progress')).toBeLessThan(types.indexOf('runtime-warning'))
  expect(await sessions.get(id)).toMatchObject({ health: 'degraded', turn: { state: 'busy' } })
  expect(await watcher.next()).toBeDefined()
  watcher.close()
  await sessions.interrupt(id, owner)
  expect(await sessions.waitTurn(id, 1)).toMatchObject({ reason: 'cancelled' })
})

test('F2 a silent agent that accepts a cancel loses its turn and keeps its session', async () => {
  const { sessions, start } = await gatewayWith({ inactivityMs: 300 })
  const id = await start('hang')
  expect(await sessions.waitTurn(id, 1)).toMatchObject({ reason: 'timeout' })
  expect(await sessions.get(id)).toMatchObject({ status: 'running', turn: { state: 'idle' } })
  await sessions.waitTurn(id, (await sessions.prompt(id, { prompt: 'hello' }, owner)).turn)
  expect(await sessions.get(id)).toMatchObject({ status: 'running', turnCount: 2 })
})

test('F2 an agent that ignores it is stopped as a timeout, with its processes', async () => {
  const { sessions, start } = await gatewayWith({ inactivityMs: 300, cancelGraceMs: 200 })
  const id = await start('hang!')
  await expect.poll(() => stopOf(sessions, id), patient).toBe('timeout')
  expect(await sessions.get(id)).toMatchObject({ status: 'killed', failure: { kind: 'timeout' } })
  expect(await sessions.waitTurn(id, 1)).toMatchObject({ reason: 'timeout' })
})

test('an agent that ignores an interrupt is stopped as a timeout', async () => {
  const { sessions, start } = await gatewayWith({ interruptGraceMs: 200 })
  const id = await start('hang!')
  await sessions.interrupt(id, owner)
  await expect.poll(() => stopOf(sessions, id), patient).toBe('timeout')
})

test('F3 a tool that runs counts as activity, up to a budget of its own', async () => {
  const { sessions, start } = await gatewayWith({ inactivityMs: 2_000, toolBudgetMs: 60_000 })
  const id = await start('run sleep 3')
  expect(await sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn', text: 'The command succeeded.' })
  const short = await gatewayWith({ inactivityMs: 60_000, toolBudgetMs: 300 })
  const stopped = await short.start('run sleep 300')
  expect(await short.sessions.waitTurn(stopped, 1)).toMatchObject({ reason: 'timeout' })
})

test('an idle session sleeps without its process, and its next prompt wakes it with its memory', async () => {
  const { sessions, start } = await gatewayWith({ idleMs: 1_000 })
  const id = await start('the word is heron')
  await expect.poll(() => stopOf(sessions, id), patient).toBe('idle')
  expect(await sessions.get(id)).toMatchObject({ status: 'killed', connection: 'disconnected', resumable: true })
  const { turn } = await sessions.prompt(id, { prompt: 'recall' }, owner)
  expect((await sessions.waitTurn(id, turn)).text).toContain('the word is heron')
  expect((await sessions.get(id)).resumedHow).toBeDefined()
})

test('a limit of time and a time to live end a session, each by its own name', async () => {
  const limited = await gatewayWith({ maxDurationMs: 600 })
  const mortal = await gatewayWith({})
  const [one, two] = await Promise.all([limited.start(), mortal.start(undefined, { ttlSeconds: 1 })])
  await expect.poll(() => stopOf(limited.sessions, one), patient).toBe('timeout')
  await expect.poll(() => stopOf(mortal.sessions, two), patient).toBe('expired')
  expect(await limited.sessions.get(one)).toMatchObject({ status: 'killed', failure: { kind: 'timeout' } })
})

test('a host runs no more agents than it may, and again when one has ended', async () => {
  const { sessions, start } = await gatewayWith({ maxSessions: 1 })
  const id = await start()
  await expect(start()).rejects.toMatchObject({ code: 'session_limit_reached' })
  await sessions.kill(id, owner)
  expect(await start()).not.toBe(id)
})

test('F79 an unanswered request is denied, and the agent gets the reason', async () => {
  const { sessions, start, home } = await gatewayWith({ requestTimeoutMs: 300 })
  const id = await start('ask notes.txt hello')
  const { text } = await sessions.waitTurn(id, 1)
  expect(text).toBe('I was not allowed to write notes.txt. Reason: No one answered within 0.3 s.')
  expect(() => readFileSync(`${home}/notes.txt`)).toThrow('ENOENT')
})

test('a rule answers a real agent, and is reported by its id', async () => {
  const home = await temporaryHome()
  const { sessions, permissions } = await testGateway({ home })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  await permissions.addRule({ sessionId: id }, { decision: 'deny', path: 'secret/**' }, owner)
  const rule = await permissions.addRule({ sessionId: id }, { decision: 'allow', toolKind: 'edit' }, owner)
  const say = async (prompt: string): Promise<string> =>
    (await sessions.waitTurn(id, (await sessions.prompt(id, { prompt }, owner)).turn)).text
  expect(await say('ask notes.txt hello')).toBe('I was allowed to write notes.txt.')
  expect(await say('ask secret/x hello')).toContain('Reason: A rule of the session denies it.')
  expect((await sessions.requests(id))[0]?.answeredBy).toEqual({ type: 'policy', rule: rule.ruleId })
})
