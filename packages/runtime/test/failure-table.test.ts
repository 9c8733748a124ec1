import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { AgentprotoError, type FailureKind, type Principal, type Session, type StopReason } from '@agentproto/contracts'
import type { EventStore } from '@agentproto/contracts/agent'
import { createGateway, type Gateway, type GatewayOptions } from '@agentproto/runtime'
import { MemoryEventStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { echo, scripted } from '../../session-registry/test/fixtures/scripted-agent.ts'
import { memoryRegistry } from '../../session-registry/test/fixtures/test-registry.ts'
import { faultyAgent } from './fixtures/faulty-agent.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// Every stop reason and every kind of failure, each from what really brings it about. The two tables have a
// row for each member of their union, which the compiler checks.

const owner: Principal = { type: 'owner', name: 'owner' }
/** Of the shape of a gateway's own token. */
const SECRET = `agp_o_${'0'.repeat(16)}_${'x'.repeat(43)}`
const patient = { timeout: 30_000 }

/** Brings a session about that has ended, and returns it. */
type Provocation = () => Promise<Session>

/** Only a fleet moves a session. */
const STOPS: Readonly<Record<Exclude<StopReason, 'moved'>, Provocation>> = {
  completed: () => left(),
  user_canceled: () => killed(),
  max_iterations: () => killed('max_iterations'),
  loop_detected: () => killed('loop_detected'),
  budget_exceeded: () => killed('budget_exceeded'),
  timeout: () => stuck(),
  error: () => faulty('ends at once'),
  agent_crashed: () => demo({ prompt: 'crash 7' }),
  hook_stopped: () => hooked(),
  shutdown: () => shutDown(),
  idle: () => demo({}, { sessions: { idleMs: 200 } }),
  expired: () => demo({ ttlSeconds: 1 }),
}

const KINDS: Readonly<Record<Exclude<FailureKind, 'prompt_failure'>, Provocation>> = {
  startup_failure: () => faulty('has no interpreter'),
  handshake_failure: () => faulty('ends at once'),
  load_session_failure: () => lost(),
  protocol_failure: () => refusedMode(),
  cancellation: () => cancelledStart(),
  permission_failure: () => hooked(),
  provider_auth_failure: () => faulty('not logged in'),
  process_exit: () => faulty('dies talking', { prompt: SECRET }),
  transport_failure: () => faulty('closes its pipes', { prompt: 'x' }),
  timeout: () => stuck(),
  unknown_failure: () => unlogged(),
}

test.each(Object.entries(STOPS))('a session stops as %s', async (stopReason, provoke) => {
  const session = await provoke()
  expect(session).toMatchObject({ stopReason, connection: 'disconnected', health: 'dead', turn: { state: 'idle' } })
})

test.each(Object.entries(KINDS))('a session fails with %s, in a short text without secrets', async (kind, provoke) => {
  const { failure } = await provoke()
  expect(failure).toMatchObject({ kind, summary: expect.stringMatching(/./) as string })
  expect(failure?.summary.length).toBeLessThanOrEqual(2_048)
  expect(failure?.summary).not.toContain(SECRET)
})

test('a prompt that the agent refuses fails its turn and no session: there is no prompt_failure', async () => {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'fail no thanks' }, owner)
  expect(await sessions.waitTurn(id, 1)).toMatchObject({ reason: 'error' })
  const session = await sessions.get(id)
  expect([session.status, session.failure]).toEqual(['running', undefined])
})

const NOTHING = (): undefined => undefined

type Spawn = Omit<Parameters<Gateway['sessions']['spawn']>[0], 'adapter'>

async function demo(spawn: Spawn, options: Partial<GatewayOptions> = {}): Promise<Session> {
  return started(options, spawn)
}

async function faulty(fault: Parameters<typeof faultyAgent>[1], spawn: Spawn = {}): Promise<Session> {
  const path = await faultyAgent(await temporaryHome(), fault)
  return started({ executables: { 'agentproto-demo-agent': path } }, spawn)
}

/** A session that ends by what it was started with, if it starts at all. */
async function started(options: Partial<GatewayOptions>, spawn: Spawn = {}): Promise<Session> {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home, ...options })
  const thrown: unknown = await sessions.spawn({ adapter: 'demo', cwd: home, ...spawn }, owner).then(NOTHING, (e) => e)
  if ((await sessions.list()).sessions.length === 0) throw thrown
  return ended(sessions)
}

/** The only session, once it has stopped. */
async function ended(sessions: Gateway['sessions']): Promise<Session> {
  await expect.poll(async () => (await sessions.list()).sessions[0]?.stopReason, patient).toBeDefined()
  const [{ id } = { id: '' }] = (await sessions.list()).sessions
  return sessions.get(id)
}

async function killed(reason?: 'max_iterations' | 'loop_detected' | 'budget_exceeded'): Promise<Session> {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hang' }, owner)
  await sessions.kill(id, owner, reason)
  return sessions.get(id)
}

async function stuck(): Promise<Session> {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home, sessions: { interruptGraceMs: 200 } })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hang!' }, owner)
  await sessions.interrupt(id, owner)
  return ended(sessions)
}

const hooked: Provocation = () =>
  demo({ prompt: 'ask a.txt x' }, { hooks: { onRequest: () => ({ deny: 'that is enough', stop: true }) } })

async function shutDown(): Promise<Session> {
  const home = await temporaryHome()
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: home }
  const first = await createGateway({ home, env })
  const { id } = await first.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hang' }, owner)
  await first.close()
  return (await testGateway({ home })).sessions.get(id)
}

async function left(): Promise<Session> {
  const home = await temporaryHome()
  const executables = { 'agentproto-demo-agent': await faultyAgent(home, 'exits on request') }
  const { sessions } = await testGateway({ home, executables })
  await sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  await writeFile(join(home, 'leave'), '')
  return ended(sessions)
}

const MODES = '  agentproto:\n    session_modes:\n      plan: plan\n'

/** Its mode is one that can only be set in an open session. */
async function refusedMode(): Promise<Session> {
  const home = await temporaryHome()
  const manifest = join(home, 'own', 'demo', 'AGENT-CLI.md')
  await cp(join(catalogPath, 'demo'), join(home, 'own', 'demo'), { recursive: true })
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('  agentproto:\n', MODES))
  const executables = { 'agentproto-demo-agent': await faultyAgent(home, 'refuses its mode') }
  return started({ executables, adapters: [join(home, 'own')] }, { mode: 'plan' })
}

/** The agent's stored conversation is gone when the session is to be resumed. */
async function lost(): Promise<Session> {
  const [home, memory] = [await temporaryHome(), await temporaryHome()]
  const { sessions } = await testGateway({ home, env: { ...process.env, AGENTPROTO_DEMO_HOME: memory } })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hello' }, owner)
  await sessions.waitTurn(id, 1)
  await sessions.kill(id, owner)
  for (const name of await readdir(memory)) await rm(join(memory, name), { recursive: true, force: true })
  await expect(sessions.resume(id, {}, owner)).rejects.toMatchObject({ code: 'not_resumable' })
  return sessions.get(id)
}

async function cancelledStart(): Promise<Session> {
  const home = await temporaryHome()
  const executables = { 'agentproto-demo-agent': await faultyAgent(home, 'mute') }
  const { sessions } = await testGateway({ home, executables })
  const spawned = sessions.spawn({ adapter: 'demo', cwd: home }, owner).catch((thrown: unknown) => thrown)
  await expect.poll(async () => (await sessions.list()).sessions[0]?.health, patient).toBe('unknown')
  const [{ id } = { id: '' }] = (await sessions.list()).sessions
  await sessions.kill(id, owner)
  expect(await spawned).toMatchObject({ code: 'cancelled' })
  return sessions.get(id)
}

/** The disk is full once the session runs; on a real device it is in session-registry's full-disk.test.ts. */
async function unlogged(): Promise<Session> {
  const memory = new MemoryEventStore()
  let isFull = false
  const logs: EventStore = {
    delete: (id) => memory.delete(id),
    async open(id) {
      const { log, repairs } = await memory.open(id)
      const append = log.append.bind(log)
      log.append = (batch) =>
        isFull ? Promise.reject(new AgentprotoError('storage_failed', 'No room')) : append(batch)
      return { log, repairs }
    },
  }
  const full = scripted(async (turn) => {
    isFull = true
    await echo(turn)
  })
  const { registry } = await memoryRegistry({ ...full, logs })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.get(id)).stopReason, patient).toBeDefined()
  return registry.get(id)
}
