import { adoptProprietary, connectProprietary } from '@agentproto/arm-proprietary'
import { asRecord, systemClock } from '@agentproto/contracts'
import {
  type AdoptedSession,
  type AgentSignal,
  type AgentKeeper,
  type ArmConnection,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
  type Launch,
} from '@agentproto/contracts/agent'
import { environmentOf, findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { Host, joined, Log, quiet, story } from '../../../tooling/killed-host.ts'
import { type Controller, MemoryKeeper } from '../../../tooling/memory-keeper.ts'
import { fakeGemini, profile } from './connecting.ts'

const KEY = 'ses_1'
const TURN = 'ses_1.turn'

/** The keeper as one host sees it. */
class HostKeeper implements AgentKeeper {
  readonly #inner: MemoryKeeper
  readonly #controllers: Controller[] = []
  /** How many processes it may still start before it is killed. */
  spawns = Infinity
  /** What is done with the next process of a turn. */
  onTurn: (controller: Controller) => void = () => {}
  isKilled = false

  constructor(inner: MemoryKeeper) {
    this.#inner = inner
  }

  async spawn(key: string, launch: Launch, facts: string): Promise<Controller> {
    if (this.spawns-- <= 0) this.kill()
    if (this.isKilled) return new Promise(() => {})
    const controller = await this.#inner.spawn(key, launch, facts)
    if (key === TURN) this.onTurn(controller)
    this.#controllers.push(controller)
    return controller
  }

  async adopt(key: string): Promise<Controller | undefined> {
    const controller = await this.#inner.adopt(key)
    if (controller) this.#controllers.push(controller)
    return controller
  }

  kill(): void {
    this.isKilled = true
    for (const controller of this.#controllers) controller.kill()
  }
}

interface Running {
  readonly inner: MemoryKeeper
  readonly keeper: HostKeeper
  readonly launch: Launch
  readonly log: Log
  readonly host: Host
  readonly connection: ArmConnection
  readonly session: ArmSession
}

const common = { limits: { ...DEFAULT_ARM_LIMITS, termGraceMs: 300 }, clock: systemClock, profile }
const client = { name: 'test', version: '0' }
const prompt = (text: string) => [{ type: 'text', text }] as const

/** The first host, whose session is open and stored. */
async function running(): Promise<Running> {
  const inner = new MemoryKeeper()
  const keeper = new HostKeeper(inner)
  const launch = fakeGemini()
  const { signal } = new AbortController()
  const log = new Log()
  const host = new Host(log)
  const connection = await connectProprietary({
    ...common,
    launch,
    signal,
    client,
    keep: { keeper, key: KEY, host: { a: 1 } },
  })
  const opening = { cwd: launch.cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' } } as const
  const session = await connection.openSession(opening, host)
  await quiet()
  return { inner, keeper, launch, log, host, connection, session }
}

/** How turns ended. What the adapter says of a cancelled turn later than the arm has ended it is no end. */
const endsOf = ({ emitted }: Host): unknown[] =>
  emitted.flatMap((signal) => (signal.type === 'turn-end' ? [signal.reason] : []))

interface Adopted {
  readonly keeper: HostKeeper
  readonly host: Host
  readonly connection: ArmConnection
  readonly session: AdoptedSession
}

/** A later host, before it begins; the one before is killed. */
async function adopt(before: Pick<Running, 'inner' | 'keeper' | 'launch' | 'log' | 'host'>): Promise<Adopted> {
  before.keeper.kill()
  before.host.isKilled = true
  const keeper = new HostKeeper(before.inner)
  const place = await keeper.adopt(KEY)
  if (!place) throw new Error('nothing is kept')
  const from = Number(asRecord(JSON.parse(place.facts))['mark'])
  const host = new Host(before.log, { from })
  host.isReplay = true
  const { cwd, marker, env: given } = before.launch
  const env = environmentOf(place.process) ?? given
  expect(env).not.toHaveProperty('AGENTPROTO_SESSION_ID')
  const launch = { command: '', args: [], cwd, env, marker }
  const { signal } = new AbortController()
  const options = { ...common, launch, signal, client, agent: place, keep: { keeper, key: KEY } }
  const { connection, session } = await adoptProprietary(options, host)
  onTestFinished(async () => {
    await connection.close()
    expect(findMarkedProcesses(marker)).toEqual([])
    expect(identify(place.process.pid)).toBeUndefined()
    expect(await before.inner.adopt(KEY)).toBeUndefined()
    expect(await before.inner.adopt(TURN)).toBeUndefined()
  })
  expect(session.mark).toBe(from)
  return { keeper, host, connection, session }
}

/** It has a pipe of its own, so that its place is another one each time. */
function dropStderr(signals: AgentSignal[]): void {
  const others = signals.filter((each) => each.type !== 'output' || each.stream !== 'stderr')
  signals.splice(0, signals.length, ...others)
}

/** A turn that nothing interrupts. */
async function whole(text: string) {
  const run = await running()
  const before = run.log.signals.length
  let said = 0
  run.keeper.onTurn = (controller) =>
    void (async () => {
      for await (const chunk of controller.read('stdout', 0)) said += chunk.length
    })()
  await run.session.send(prompt(text))
  await run.connection.close()
  dropStderr(run.log.signals)
  return { story: story(run.log.signals.slice(before)), bytes: () => said }
}

test.each(['tool', 'utf8', 'garbage', 'dies'])(
  '16.3 a host that is killed at any place of a turn (%s): the next one has each event once, and the turn ends once',
  async (how) => {
    const calm = await whole(how)
    const said = calm.bytes()
    for (let at = 0; at <= said; at += Math.ceil(said / 5)) {
      const run = await running()
      let process: Controller | undefined
      run.keeper.onTurn = (controller) => {
        controller.readable = at
        controller.learnsExit = false
        process = controller
      }
      void run.session.send(prompt(how))
      await expect.poll(() => process && !identify(process.process.pid)).toBe(true)
      await quiet()
      const next = await adopt(run)
      const turn = next.session.begin()
      expect(turn?.cancelling).toBe(false)
      await Promise.all([turn?.done, next.session.caughtUp])
      for (const signals of [run.log.signals, next.host.emitted]) dropStderr(signals)
      expect(story(joined(run.log, next)), `killed after ${at} bytes`).toEqual(calm.story)
      await next.session.send(prompt('echo again'))
      expect(next.host.emitted.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
      await next.connection.close()
    }
  },
  60_000,
)

test('16.3 between turns nothing runs but what holds the place, and the conversation goes on', async () => {
  const run = await running()
  await run.session.send(prompt('echo one'))
  await expect.poll(() => findMarkedProcesses(run.launch.marker)).toEqual([])
  await new Promise((resolve) => systemClock.after(50, () => resolve(undefined)))
  const next = await adopt(run)
  expect(next.session.agentSessionId).toBe(run.session.agentSessionId)
  expect(next.connection.info).toEqual(run.connection.info)
  expect(next.session.begin()).toBeUndefined()
  await next.session.caughtUp
  expect(next.host.emitted).toEqual([])
  await next.session.send(prompt('remember'))
  expect(JSON.stringify(next.host.emitted)).toContain('echo one|remember')
})

test('16.3 before the first turn: the next host has the same conversation', async () => {
  const run = await running()
  const next = await adopt(run)
  expect(next.session.begin()).toBeUndefined()
  await next.session.send(prompt('echo first'))
  const last = await adopt({ ...run, ...next })
  expect(last.session.agentSessionId).toBe(run.session.agentSessionId)
})

test('16.3 a prompt whose process was not started, or did not get all of it, was not sent', async () => {
  for (const breakOff of [
    (keeper: HostKeeper) => (keeper.spawns = 0),
    (keeper: HostKeeper) =>
      (keeper.onTurn = (controller) => {
        controller.writable = 0
        controller.learnsExit = false
      }),
  ]) {
    const run = await running()
    breakOff(run.keeper)
    void run.session.send(prompt('echo lost'))
    await expect.poll(() => run.keeper.isKilled || findMarkedProcesses(run.launch.marker).length > 0).toBe(true)
    await quiet()
    const next = await adopt(run)
    expect(next.session.begin()).toBeUndefined()
    await next.session.caughtUp
    await next.session.send(prompt('echo sent'))
    await next.session.send(prompt('remember'))
    expect(JSON.stringify(next.host.emitted)).toContain('echo sent|remember')
    await next.connection.close()
  }
})

test('16.3 a turn that runs on while no host is there goes on with the next, with the same process, twice', async () => {
  const run = await running()
  void run.session.send(prompt('hang'))
  await expect.poll(() => JSON.stringify(run.log.signals)).toContain('working')
  const [process] = findMarkedProcesses(run.launch.marker)
  const middle = await adopt(run)
  middle.session.begin()
  const last = await adopt({ ...run, ...middle })
  const turn = last.session.begin()
  await last.session.caughtUp
  expect(findMarkedProcesses(run.launch.marker)).toEqual([process])
  expect(JSON.stringify(last.host.emitted)).toContain('working')
  await last.session.cancel()
  await turn?.done
  expect(endsOf(last.host)).toEqual(['cancelled'])
})

test('16.3 a turn that was being cancelled is cancelled', async () => {
  const run = await running()
  void run.session.send(prompt('stubborn'))
  await expect.poll(() => JSON.stringify(run.log.signals)).toContain('text-delta')
  void run.session.cancel()
  await quiet(1)
  const next = await adopt(run)
  const again = next.session.begin()
  expect(again?.cancelling).toBe(true)
  await Promise.all([again?.done, next.session.caughtUp])
  expect(endsOf(next.host)).toEqual(['cancelled'])
})

test('16.3 facts that cannot be read are refused, and the process is left as it is', async () => {
  const run = await running()
  run.keeper.kill()
  for (const facts of ['', 'garbage', '{"version":1,"mark":0,"host":{},"arm":{}}']) {
    const place = await run.inner.adopt(KEY)
    await place?.acknowledge({ stdin: 0, stdout: 0, stderr: 0 }, facts, false)
    const agent = await run.inner.adopt(KEY)
    if (!agent) throw new Error('nothing is kept')
    const keep = { keeper: run.inner, key: KEY }
    const { signal } = new AbortController()
    await expect(
      adoptProprietary({ ...common, launch: run.launch, signal, client, agent, keep }, run.host),
    ).rejects.toMatchObject({ code: 'not_adoptable' })
    expect(identify(agent.process.pid)).toEqual(agent.process)
  }
  const agent = await run.inner.adopt(KEY)
  agent?.endInput()
  await agent?.exit
})

test('16.3 a keeper that is gone ends the agent and its turn', async () => {
  const run = await running()
  const sent = run.session.send(prompt('hang'))
  await expect.poll(() => JSON.stringify(run.log.signals)).toContain('working')
  run.inner.die()
  expect(await run.connection.ended).toMatchObject({ cause: 'transport', duringTurn: true })
  await sent
  expect(run.log.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  expect(findMarkedProcesses(run.launch.marker)).toEqual([])
})
