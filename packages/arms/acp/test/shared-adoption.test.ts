import { setImmediate as turn } from 'node:timers/promises'
import { adoptSharedAcp, connectAcp } from '@agentproto/acp'
import { type AgentAnswer, type AgentRequest, asRecord, type Json } from '@agentproto/contracts'
import { type AdoptedSession, type AgentSignal, type AgentSink, readSharedFacts } from '@agentproto/contracts/agent'
import type { ArmSession, RunningTurn, SharedFacts } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { type Controller, MemoryKeeper } from '../../../../tooling/memory-keeper.ts'
import { fixture } from './connecting.ts'

const ALLOW: AgentAnswer = { outcome: 'selected', optionId: 'allow' }
const OPTIONS = [{ optionId: 'allow', name: 'Allow', kind: 'allow_once' }]
const MODELS = Array.from({ length: 300 }, (_, at) => ({ modelId: `vendor/model-${at}`, name: `Model ${at} of many` }))
const KEY = 'shared_key'

/** An agent with several sessions, which goes on only where the test says so. */
class SeveralAgent {
  readonly received: Json[] = []
  readonly #steps = new Map<string, (() => void)[]>()
  readonly #answered = new Map<string, () => void>()
  /** Bytes that it has written. */
  size = 0
  #say: (text: string) => void = () => {}
  #opened = 0
  /** Requests that open a session, which wait for {@link open}. */
  #opening: (() => void)[] | undefined

  readonly receive = (line: string, say: (text: string) => void): void => {
    this.#say = (text) => {
      this.size += Buffer.byteLength(text)
      say(text)
    }
    const message = asRecord(line === '' ? {} : JSON.parse(line))
    this.received.push(message)
    const { id, method } = message
    const { sessionId } = asRecord(message['params'])
    if (method === 'initialize')
      this.#send({
        id,
        result: { protocolVersion: 1, agentCapabilities: { loadSession: true, sessionCapabilities: { close: {} } } },
      })
    else if (method === 'session/new') this.#openSoon(id)
    else if (method === 'session/prompt') this.#work(String(sessionId), id, asRecord(message['params']))
    else if (method === 'session/cancel') this.#cancel(String(sessionId))
    else if (method === 'session/close') this.#send({ id, result: {} })
    else if (method === undefined) this.#answered.get(String(id))?.()
  }

  /** The answers to `session/new` wait. */
  holdOpenings(): void {
    this.#opening = []
  }

  open(): void {
    for (const open of this.#opening?.splice(0) ?? []) open()
    this.#opening = undefined
  }

  isBusy(sessionId: string): boolean {
    return (this.#steps.get(sessionId)?.length ?? 0) > 0
  }

  /** One more line of a session. */
  step(sessionId: string): void {
    this.#steps.get(sessionId)?.shift()?.()
  }

  of(method: string): Json[] {
    return this.received.filter((message) => message['method'] === method)
  }

  update(sessionId: string, update: object): void {
    this.#send({ method: 'session/update', params: { sessionId, update } })
  }

  #openSoon(id: unknown): void {
    const open = (): void => {
      const sessionId = `s${++this.#opened}`
      // Before its id is known, as some agents do.
      this.update(sessionId, { sessionUpdate: 'available_commands_update', availableCommands: [] })
      this.#send({
        id,
        result: { sessionId, models: { currentModelId: 'vendor/model-0', availableModels: MODELS } },
      })
    }
    if (this.#opening) this.#opening.push(open)
    else open()
  }

  #work(sessionId: string, prompt: unknown, { prompt: blocks }: Json): void {
    const words = String(asRecord(Array.isArray(blocks) ? blocks[0] : undefined)['text'])
    const speak = (text: string): void =>
      this.update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
    const ask = `ask ${sessionId} ${words}`
    const toolCall = { toolCallId: `tool ${words}`, title: 'Edit', kind: 'edit' }
    const after = [
      () => speak('täter '),
      () => this.update(sessionId, { sessionUpdate: 'tool_call_update', ...toolCall, status: 'completed' }),
      () => this.#send({ id: prompt, result: { stopReason: 'end_turn' } }),
    ]
    this.#answered.set(ask, () => {
      this.#answered.delete(ask)
      this.#steps.get(sessionId)?.push(...after)
    })
    this.#steps.set(sessionId, [
      () => speak(`${words} `),
      () => speak('grüße 😀 '),
      () => this.update(sessionId, { sessionUpdate: 'tool_call', ...toolCall, status: 'pending' }),
      () =>
        this.#send({
          id: ask,
          method: 'session/request_permission',
          params: { sessionId, toolCall, options: OPTIONS },
        }),
      () => speak('waiting '),
    ])
  }

  #cancel(sessionId: string): void {
    this.#steps.delete(sessionId)
  }

  #send(message: object): void {
    this.#say(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}

/** What is stored of one session. It survives every host. */
class Log {
  signals: AgentSignal[] = []
  readonly asked = new Map<string, AgentAnswer | undefined>()
}

/** One session as one host sees it. */
class Host implements AgentSink {
  readonly log: Log
  readonly #mark: number | undefined
  readonly #world: { isKilled: boolean; isAnswering: boolean }
  readonly waiting: (() => void)[] = []
  emitted: AgentSignal[] = []
  hasCaughtUp = false

  /** @param mark of an adopted session */
  constructor(log: Log, world: Host['world'], mark?: number) {
    this.log = log
    this.#world = world
    this.#mark = mark
  }

  get world(): { isKilled: boolean; isAnswering: boolean } {
    return this.#world
  }

  async emit(batch: readonly AgentSignal[]): Promise<void> {
    if (this.#world.isKilled) return
    this.emitted.push(...batch)
    if (this.#mark === undefined) this.log.signals.push(...batch)
  }

  ask(request: AgentRequest): Promise<AgentAnswer> {
    const key = JSON.stringify(request)
    const stored = this.log.asked.get(key) ?? (this.#world.isAnswering ? ALLOW : undefined)
    this.log.asked.set(key, stored)
    if (stored) return Promise.resolve(stored)
    return new Promise((resolve) =>
      this.waiting.push(() => {
        this.log.asked.set(key, ALLOW)
        resolve(ALLOW)
      }),
    )
  }

  mark(): number {
    return this.#mark === undefined ? this.log.signals.length : this.#mark + this.emitted.length
  }

  /** What a registry would have stored: what was there already is skipped. */
  store(): void {
    if (this.#mark === undefined) return
    const before = text(this.log.signals.slice(this.#mark))
    const again = text(this.emitted)
    if (!before.startsWith(again) && !again.startsWith(before)) throw new Error(`${before}\n  but now\n${again}`)
    if (this.hasCaughtUp) this.log.signals = [...this.log.signals.slice(0, this.#mark), ...this.emitted]
  }
}

/** Signals as one text, in which pieces of text may be cut anywhere. */
const text = (signals: readonly AgentSignal[]): string =>
  signals.map((signal) => (signal.type === 'text-delta' ? signal.text : `\n${JSON.stringify(signal)}\n`)).join('')

/** One host with all of its sessions. */
interface World {
  readonly controller: Controller
  readonly sessions: Map<string, { readonly session: ArmSession; readonly host: Host; readonly turn?: RunningTurn }>
  readonly state: { isKilled: boolean; isAnswering: boolean }
  readonly open: (key: string) => Promise<ArmSession>
}

const options = { ...fixture('echo') }
const opening = { cwd: process.cwd(), additionalDirectories: [] }

class Bench {
  readonly keeper = new MemoryKeeper()
  readonly agent = new SeveralAgent()
  readonly logs = new Map<string, Log>()

  async start(...keys: readonly string[]): Promise<World> {
    let controller: Controller | undefined
    const keeper = {
      spawn: async () => (controller = this.keeper.host(KEY, this.agent.receive)),
      adopt: () => this.keeper.adopt(KEY),
    }
    const connection = await connectAcp({
      ...options,
      keep: { keeper, key: KEY, host: { launch: 'digest' }, isShared: true },
    })
    if (!controller) throw new Error('nothing was spawned')
    const world = this.#world(controller, async (key, sink) =>
      connection.openSession(
        { ...opening, mcpServers: [], origin: { how: 'new' }, keep: { key, host: { sandbox: 'none' } } },
        sink,
      ),
    )
    for (const key of keys) await world.open(key)
    await quiet()
    return world
  }

  /** A later host goes on with the sessions of these keys, or of all. */
  async adopt(keys?: readonly string[]): Promise<World> {
    const controller = await this.keeper.adopt(KEY)
    if (!controller) throw new Error('nothing is kept')
    const adopted = await adoptSharedAcp({ ...options, agent: controller })
    const world = this.#world(controller, async (key, sink) =>
      adopted.connection.openSession(
        { ...opening, mcpServers: [], origin: { how: 'new' }, keep: { key, host: {} } },
        sink,
      ),
    )
    for (const { key, mark } of adopted.sessions) {
      if (keys && !keys.includes(key)) continue
      const host = new Host(this.log(key), world.state, mark)
      const session: AdoptedSession = adopted.adopt(key, opening, host)
      void session.caughtUp.then(() => (host.hasCaughtUp = true))
      const running = session.begin()
      world.sessions.set(key, { session, host, ...(running && { turn: running }) })
    }
    adopted.begin()
    return world
  }

  kill({ controller, state, sessions }: World): void {
    controller.kill()
    state.isKilled = true
    for (const { host } of sessions.values()) host.store()
  }

  log(key: string): Log {
    const log = this.logs.get(key) ?? new Log()
    this.logs.set(key, log)
    return log
  }

  #world(controller: Controller, openSession: (key: string, sink: Host) => Promise<ArmSession>): World {
    const state = { isKilled: false, isAnswering: true }
    const sessions: World['sessions'] = new Map()
    const open = async (key: string): Promise<ArmSession> => {
      const host = new Host(this.log(key), state)
      const session = await openSession(key, host)
      sessions.set(key, { session, host })
      return session
    }
    return { controller, sessions, state, open }
  }
}

async function quiet(rounds = 12): Promise<void> {
  for (let round = 0; round < rounds; round++) await turn()
}

const say = (words: string) => [{ type: 'text' as const, text: words }]

/** All that one turn of the agent is. */
const turnOf = (words: string): string =>
  text([
    { type: 'text-delta', text: `${words} grüße 😀 ` },
    { type: 'tool-call', toolCallId: `tool ${words}`, title: 'Edit', kind: 'edit', status: 'pending' },
    { type: 'text-delta', text: 'waiting täter ' },
    { type: 'tool-result', toolCallId: `tool ${words}`, status: 'completed', title: 'Edit', kind: 'edit' },
    { type: 'turn-end', reason: 'end_turn' },
  ])

/** What is stored of a session, without what its opening emitted. */
const storyOf = (log: Log): string => text(log.signals.filter(({ type }) => type !== 'config'))

const factsIn = (controller: Controller): SharedFacts => {
  const facts = readSharedFacts(controller.facts)
  if (!facts) throw new Error('there are no facts')
  return facts
}

function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('16.3 sessions of one process: a host that is killed in two turns goes on with both, and with the idle one', async () => {
  const bench = new Bench()
  const first = await bench.start('a', 'b', 'c')
  void first.sessions.get('a')?.session.send(say('eins'))
  await quiet()
  bench.agent.step('s1')
  void first.sessions.get('b')?.session.send(say('zwei'))
  await quiet()
  for (const session of ['s2', 's1', 's2', 's2', 's1']) bench.agent.step(session)
  await quiet()
  bench.kill(first)
  const second = await bench.adopt()
  expect([...second.sessions].map(([key, { turn: running }]) => [key, running !== undefined])).toEqual([
    ['a', true],
    ['b', true],
    ['c', false],
  ])
  const done = [...second.sessions.values()].flatMap(({ turn: running }) => (running ? [running.done] : []))
  while (bench.agent.isBusy('s1') || bench.agent.isBusy('s2')) {
    bench.agent.step('s1')
    bench.agent.step('s2')
    await quiet(4)
  }
  await Promise.all(done)
  bench.kill(second)
  expect(['a', 'b', 'c'].map((key) => storyOf(bench.log(key)))).toEqual([turnOf('eins'), turnOf('zwei'), ''])
  expect(second.controller.faults).toEqual([])
})

test('16.3 the keeper forgets what is before the longest turn that runs, also while no moment is idle for all', async () => {
  const bench = new Bench()
  const world = await bench.start('a', 'b')
  const finish = async (session: string): Promise<void> => {
    while (bench.agent.isBusy(session)) {
      bench.agent.step(session)
      await quiet(4)
    }
  }
  const begins: number[] = []
  void world.sessions.get('a')?.session.send(say('0'))
  await quiet()
  for (let round = 1; round < 10; round++) {
    // One of the two is always in a turn.
    const [key, session] = round % 2 === 1 ? (['b', 's1'] as const) : (['a', 's2'] as const)
    void world.sessions.get(key)?.session.send(say(`${round}`))
    await quiet()
    await finish(session)
    const forgotten = (): number => world.controller.acknowledged.at(-1)?.stdout ?? 0
    await expect.poll(forgotten, { interval: 1 }).not.toBe(begins.at(-1))
    begins.push(forgotten())
  }
  expect(begins).toEqual([...begins].sort((a, b) => a - b))
  expect(new Set(begins).size).toBe(begins.length)
  expect(world.controller.faults).toEqual([])
})

test('16.3 what sessions have in common is stored once: 40 sessions with 300 models', async () => {
  const bench = new Bench()
  const keys = Array.from({ length: 40 }, (_, at) => `key-${at}`)
  const world = await bench.start(...keys)
  bench.kill(world)
  const again = await bench.keeper.adopt(KEY)
  if (!again) throw new Error('nothing is kept')
  expect(factsIn(again).sessions.map(({ key }) => key)).toEqual(keys)
  expect(again.facts.length).toBeLessThan(100_000)
})

test('16.3 a session whose record is gone: nothing of it reaches the others, and the agent closes it', async () => {
  const bench = new Bench()
  const first = await bench.start('a', 'gone')
  void first.sessions.get('a')?.session.send(say('eins'))
  void first.sessions.get('gone')?.session.send(say('weg'))
  await quiet()
  for (const session of ['s1', 's2', 's2', 's1', 's2', 's2']) bench.agent.step(session)
  bench.kill(first)
  const second = await bench.adopt(['a'])
  await quiet()
  bench.agent.update('s2', { sessionUpdate: 'current_mode_update', currentModeId: 'late' })
  while (bench.agent.isBusy('s1')) {
    bench.agent.step('s1')
    await quiet(4)
  }
  await second.sessions.get('a')?.turn?.done
  bench.kill(second)
  expect(storyOf(bench.log('a'))).toBe(turnOf('eins'))
  expect(bench.agent.of('session/close').map(({ params }) => asRecord(params)['sessionId'])).toEqual(['s2'])
  expect(bench.agent.of('session/cancel').map(({ params }) => asRecord(params)['sessionId'])).toEqual(['s2'])
})

test('16.3 a session that was closed, and one that was being opened: their lines reach no other session', async () => {
  const bench = new Bench()
  const first = await bench.start('a', 'b')
  void first.sessions.get('a')?.session.send(say('eins'))
  await quiet()
  bench.agent.step('s1')
  await first.sessions.get('b')?.session.close()
  bench.agent.update('s2', { sessionUpdate: 'current_mode_update', currentModeId: 'late' })
  bench.agent.holdOpenings()
  void first.open('c').catch(() => {})
  await quiet()
  bench.kill(first)
  bench.agent.open()
  bench.agent.update('s3', { sessionUpdate: 'current_mode_update', currentModeId: 'late' })
  const second = await bench.adopt()
  expect([...second.sessions.keys()]).toEqual(['a'])
  while (bench.agent.isBusy('s1')) {
    bench.agent.step('s1')
    await quiet(4)
  }
  await second.sessions.get('a')?.turn?.done
  await expect.poll(() => bench.agent.of('session/close').length).toBe(2)
  bench.kill(second)
  expect(storyOf(bench.log('a'))).toBe(turnOf('eins'))
  expect(bench.agent.of('session/close').map(({ params }) => asRecord(params)['sessionId'])).toEqual(['s2', 's3'])
})

test('16.3 a session that was being closed is not adopted, and its siblings are', async () => {
  const bench = new Bench()
  const first = await bench.start('a', 'b')
  // What is stored after the request to close does not arrive any more.
  const before = first.controller.acknowledge.bind(first.controller)
  first.controller.acknowledge = async () => {}
  await first.sessions.get('b')?.session.close()
  first.controller.acknowledge = before
  bench.kill(first)
  const controller = await bench.keeper.adopt(KEY)
  if (!controller) throw new Error('nothing is kept')
  const adopted = await adoptSharedAcp({ ...options, agent: controller })
  const state = { isKilled: false, isAnswering: true }
  expect(() => adopted.adopt('b', opening, new Host(bench.log('b'), state, 0))).toThrow(/being closed/)
  expect(() => adopted.adopt('never', opening, new Host(bench.log('x'), state, 0))).toThrow(/Nothing is stored/)
  expect(adopted.adopt('a', opening, new Host(bench.log('a'), state, 0)).agentSessionId).toBe('s1')
})

/** Hosts, an agent, and what the test knows: everything is done at random. */
class Chance {
  readonly #below: (below: number) => number
  readonly #bench = new Bench()
  readonly #keys = ['a', 'b', 'c'] as const
  readonly turns = new Map<string, string[]>()
  readonly #running = new Map<string, Promise<unknown>>()
  #world: World | undefined

  constructor(seed: number) {
    this.#below = random(seed)
  }

  get world(): World {
    if (!this.#world) throw new Error('it was not started')
    return this.#world
  }

  get agent(): SeveralAgent {
    return this.#bench.agent
  }

  async start(): Promise<void> {
    this.#world = await this.#bench.start(...this.#keys)
  }

  async act(): Promise<void> {
    const what = this.#below(12)
    if (what < 7) this.agent.step(`s${this.#below(3) + 1}`)
    else if (what < 9) await this.#prompt(this.#keys[this.#below(3)] ?? 'a')
    else if (what === 9) this.world.state.isAnswering = !this.world.state.isAnswering
    else if (what === 10) this.#answerAll()
    else if (this.#below(3) === 0) await this.exchange()
    else if (this.#below(4) === 0) this.world.controller.readable = this.agent.size + this.#below(400)
    await quiet(this.#below(3))
  }

  /** Kills the host. The next one may be killed before it has caught up. */
  async exchange(): Promise<void> {
    this.#bench.kill(this.world)
    this.#running.clear()
    this.#world = await this.#bench.adopt()
    for (const [key, { turn: goingOn }] of this.world.sessions) if (goingOn) this.#settle(key, goingOn.done)
    if (this.#below(3) > 0) await quiet()
  }

  async finish(): Promise<void> {
    // Some bytes may be read only by the last host.
    await this.exchange()
    await quiet()
    this.world.state.isAnswering = true
    for (let round = 0; round < 60 && this.#running.size > 0; round++) {
      this.#answerAll()
      for (const session of ['s1', 's2', 's3']) this.agent.step(session)
      await quiet(4)
    }
    await quiet()
    this.#bench.kill(this.world)
  }

  stories(): string[] {
    return this.#keys.map((key) => storyOf(this.#bench.log(key)))
  }

  expected(): string[] {
    return this.#keys.map((key) => (this.turns.get(key) ?? []).map(turnOf).join(''))
  }

  async #prompt(key: string): Promise<void> {
    const before = this.turns.get(key) ?? []
    if (this.#running.has(key) || before.length > 3) return
    const words = `${key}${before.length}`
    this.turns.set(key, [...before, words])
    const { session } = this.world.sessions.get(key) ?? {}
    if (session) this.#settle(key, session.send(say(words)))
    await quiet(6)
  }

  #answerAll(): void {
    for (const { host } of this.world.sessions.values()) for (const answer of host.waiting.splice(0)) answer()
  }

  #settle(key: string, done: Promise<unknown>): void {
    this.#running.set(key, done)
    void done.then(() => this.#running.get(key) === done && this.#running.delete(key))
  }
}

test.each(Array.from({ length: 12 }, (_, at) => at + 1))(
  '16.3 three sessions, interleaved, and hosts that are killed at random: seed %i',
  async (seed) => {
    const chance = new Chance(seed)
    await chance.start()
    for (let at = 0; at < 150; at++) await chance.act()
    await chance.finish()
    expect(chance.stories()).toEqual(chance.expected())
    const requests = chance.agent.received.filter(({ id, method }) => method !== undefined && id !== undefined)
    expect(new Set(requests.map(({ id }) => id)).size).toBe(requests.length)
    const answers = chance.agent.received.filter(({ id, method }) => method === undefined && id !== undefined)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length)
    expect(chance.world.controller.faults).toEqual([])
  },
)
