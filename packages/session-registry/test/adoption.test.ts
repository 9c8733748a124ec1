import type { AgentRequest, PermissionRequest, Principal, Session, SessionEvent } from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import {
  MemoryEventStore,
  MemorySessionStore,
  openSessionRegistry,
  type SessionRegistry,
  type SessionRegistryOptions,
} from '@agentproto/session-registry'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { KeptAgents } from './fixtures/kept-agents.js'
import { ManualClock, settled } from './fixtures/manual-clock.js'
import { allEvents, constantFolder, owner, resumableAdapters, types } from './fixtures/test-registry.js'

/** A host that is killed and started again over the same stores, while its agents live. */
class Host {
  readonly agents = new KeptAgents()
  readonly clock = new ManualClock()
  readonly problems: string[] = []
  readonly leftovers: string[] = []
  readonly options: Partial<SessionRegistryOptions>
  readonly #store = new MemorySessionStore()
  readonly #logs = new MemoryEventStore()
  registry!: SessionRegistry
  /** Number of the host that is not dead. */
  #current = 0

  constructor(options: Partial<SessionRegistryOptions> = {}) {
    this.options = options
  }

  async start(): Promise<SessionRegistry> {
    await this.open()
    await settled()
    return this.registry
  }

  /** Its agents may still be catching up. */
  async open(): Promise<void> {
    const number = (this.#current += 1)
    const isDead = (): boolean => number !== this.#current
    this.registry = await openSessionRegistry({
      store: mortal(this.#store, isDead),
      logs: this.#logs,
      clock: { now: () => this.clock.now(), after: (ms, run) => this.clock.after(ms, () => isDead() || run()) },
      adapters: resumableAdapters,
      workspaces: constantFolder('/tmp'),
      hostId: 'test',
      startAgent: this.agents.startAgent,
      adoptAgent: this.agents.adoptAgent,
      onProblem: (problem) => void this.problems.push(problem),
      endLeftovers: ({ session: { id } }) => {
        this.leftovers.push(id)
        this.agents.of(id).isAlive = false
        return Promise.resolve()
      },
      ...this.options,
    })
  }

  /** As by `kill -9`. */
  kill(): void {
    this.#current += 1
    this.agents.kill()
  }

  async restart(): Promise<SessionRegistry> {
    this.kill()
    return this.start()
  }

  /** Its record is as new as its log. */
  async saved(): Promise<void> {
    await this.clock.advance(2_000)
  }
}

function mortal(store: MemorySessionStore, isDead: () => boolean): SessionRegistryOptions['store'] {
  return {
    load: () => store.load(),
    save: (record) => (isDead() ? Promise.resolve() : store.save(structuredClone(record))),
    delete: (id) => store.delete(id),
    close: () => Promise.resolve(),
  }
}

async function host(options: Partial<SessionRegistryOptions> = {}): Promise<Host> {
  const started = new Host(options)
  await started.start()
  onTestFinished(() => started.registry.close())
  return started
}

/** A session with a running turn. */
async function busy(started: Host): Promise<string> {
  const { id } = await started.registry.spawn({ adapter: 'fake', prompt: 'go' }, owner)
  await settled()
  return id
}

const text = (said: string): AgentSignal => ({ type: 'text-delta', text: said })
const permission = (toolCallId: string): PermissionRequest => ({
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId, title: 'Run', kind: 'execute' },
  options: [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ],
})
const question: AgentRequest = { kind: 'question', message: 'Which?', mode: 'form' }
const end: AgentSignal = { type: 'turn-end', reason: 'end_turn' }

const textOf = (events: readonly SessionEvent[]): string =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')

const statuses = (events: readonly SessionEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'status' ? [event.status] : []))

test('16.3 an agent in the middle of a turn goes on with another host: same process, same turn, each event once', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  await agent.say(text('one '), { type: 'tool-call', toolCallId: 't1', title: 'Run' })
  expect(await killed.registry.get(id)).toMatchObject({ kept: true, status: 'running', turn: { number: 1 } })
  killed.kill()
  await agent.say({ type: 'tool-result', toolCallId: 't1', status: 'completed' }, text('two '))
  const registry = await killed.start()
  expect(await registry.get(id)).toMatchObject({ kept: true, status: 'running', turn: { number: 1, state: 'busy' } })
  await agent.say(text('three'), end)
  await settled()
  const events = await allEvents(registry, id)
  expect(types(events)).toEqual([
    'status',
    'status',
    'user-prompt',
    'text-delta',
    'tool-call',
    'tool-result',
    'text-delta',
    'text-delta',
    'turn-end',
  ])
  expect(textOf(events)).toBe('one two three')
  expect(statuses(events)).toEqual(['starting', 'running'])
  expect(await registry.waitTurn(id, 1)).toMatchObject({ number: 1, reason: 'end_turn', text: 'one two three' })
  expect(killed.leftovers).toEqual([])
  expect(killed.agents.all).toHaveLength(1)
  const { turn } = await registry.prompt(id, { prompt: 'again' }, owner)
  await settled()
  expect(turn).toBe(2)
  expect(agent.prompts).toEqual(['go', 'again'])
})

test.each([false, true])(
  '16.3 a request that waits keeps its id, and the answer reaches the agent that waited (record saved: %s)',
  async (isSaved) => {
    const killed = await host()
    const id = await busy(killed)
    const agent = killed.agents.of(id)
    const answered = agent.ask(permission('t1'))
    await settled()
    if (isSaved) await killed.saved()
    const [before] = await killed.registry.requests(id)
    const registry = await killed.restart()
    const [after] = await registry.requests(id)
    expect(after).toMatchObject({ requestId: before?.requestId, state: 'pending' })
    expect(await registry.get(id)).toMatchObject({ turn: { state: 'awaiting-input' }, pendingRequests: 1 })
    await registry.answer({ id, requestId: after?.requestId ?? '' }, { outcome: 'selected', optionId: 'yes' }, owner)
    expect(await answered).toMatchObject({ outcome: 'selected', optionId: 'yes' })
    await agent.say(end)
    await settled()
    expect(types(await allEvents(registry, id)).slice(2)).toEqual([
      'user-prompt',
      'agent-prompt',
      'agent-prompt-resolved',
      'turn-end',
    ])
  },
)

test('16.3 an answer that was logged and not delivered is delivered once, and no other request gets it', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  const first = agent.ask(question)
  await settled()
  const [asked] = await killed.registry.requests(id)
  const key = { id, requestId: asked?.requestId ?? '' }
  await killed.registry.answer(key, { outcome: 'accept', content: { which: 1 } }, owner)
  expect(await first).toMatchObject({ content: { which: 1 } })
  // The same question again: its answer is logged while the host dies.
  const second = agent.ask(question)
  await settled()
  const [, again] = await killed.registry.requests(id)
  killed.agents.kill()
  await killed.registry.answer({ id, requestId: again?.requestId ?? '' }, { outcome: 'decline' }, owner)
  const third = agent.ask(question)
  const registry = await killed.restart()
  expect(await second).toMatchObject({ outcome: 'decline' })
  const requests = await registry.requests(id)
  expect(requests.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'pending'])
  const last = requests.at(-1)?.requestId ?? ''
  await registry.answer({ id, requestId: last }, { outcome: 'accept', content: { which: 3 } }, owner)
  expect(await third).toMatchObject({ content: { which: 3 } })
})

test('16.3 an answer that an earlier host may have acted on is not given to an agent’s host that wants a new one', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  agent.wantsNew = true
  const first = agent.ask(permission('t1'))
  await settled()
  killed.agents.kill()
  const [asked] = await killed.registry.requests(id)
  const allow = { outcome: 'selected', optionId: 'yes' } as const
  await killed.registry.answer({ id, requestId: asked?.requestId ?? '' }, allow, owner)
  let registry = await killed.restart()
  expect(await first).toEqual({ outcome: 'cancelled' })
  const second = agent.ask(permission('t2'))
  await settled()
  registry = await killed.restart()
  const waiting = (await registry.requests(id)).find(({ state }) => state === 'pending')
  await registry.answer({ id, requestId: waiting?.requestId ?? '' }, allow, owner)
  expect(await second).toMatchObject(allow)
})

test.each([false, true])(
  '16.R1 a request that its agent does not ask again is interrupted, and holds up nothing (turn over: %s)',
  async (isOver) => {
    const killed = await host()
    const id = await busy(killed)
    const agent = killed.agents.of(id)
    void agent.ask(permission('t1'))
    await settled()
    killed.kill()
    agent.spoil(() => [])
    if (isOver) await agent.say(end)
    const registry = await killed.start()
    const [request] = await registry.requests(id)
    expect(request).toMatchObject({ answer: { outcome: 'cancelled' } })
    expect(request?.state).toBe(isOver ? 'resolved' : 'interrupted')
    expect(await registry.get(id)).toMatchObject({ turn: { state: isOver ? 'idle' : 'busy' }, pendingRequests: 0 })
    expect(types(await allEvents(registry, id)).filter((type) => type === 'agent-prompt-resolved')).toHaveLength(1)
  },
)

test('16.R3 a request that is too long for one event of the log is known again', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  const long = permission('t1')
  void agent.ask({ ...long, toolCall: { ...long.toolCall, input: { text: 'x'.repeat(9 << 20) } } })
  await settled()
  const [before] = await killed.registry.requests(id)
  const registry = await killed.restart()
  expect((await registry.requests(id)).map(({ requestId, state }) => [requestId, state])).toEqual([
    [before?.requestId, 'pending'],
  ])
})

test('16.3 queued prompts stay queued, in order, and one that was stopped is not sent', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  for (const prompt of ['two', 'three', 'four']) await killed.registry.prompt(id, { prompt, whenBusy: 'queue' }, owner)
  await killed.registry.interrupt(id, owner, { turn: 3 })
  const second = await killed.restart()
  expect(await second.get(id)).toMatchObject({ queuedPrompts: 2, turn: { number: 1 } })
  await agent.say(end)
  await settled()
  expect(agent.prompts).toEqual(['go', 'two'])
  const third = await killed.restart()
  expect(await third.get(id)).toMatchObject({ queuedPrompts: 1, turn: { number: 2, state: 'busy' } })
  await agent.say(end)
  await settled()
  expect(agent.prompts).toEqual(['go', 'two', 'four'])
  await agent.say(end)
  await settled()
  expect((await third.turns(id)).map(({ number, reason, sent }) => [number, reason, sent])).toEqual([
    [1, 'end_turn', undefined],
    [2, 'end_turn', undefined],
    [3, 'cancelled', false],
    [4, 'end_turn', undefined],
  ])
})

test('16.3 a prompt that is repeated with its key after a kill has the turn that it had, also when it waits', async () => {
  const killed = await host()
  const { id } = await killed.registry.spawn({ adapter: 'fake' }, owner)
  const first = { prompt: 'one', idempotencyKey: 'k1' }
  const second = { prompt: 'two', idempotencyKey: 'k2', whenBusy: 'queue' } as const
  await killed.registry.prompt(id, first, owner)
  await killed.registry.prompt(id, second, owner)
  await killed.clock.advance(1)
  let registry = await killed.restart()
  expect(await registry.prompt(id, first, owner)).toEqual({ turn: 1 })
  expect(await registry.prompt(id, second, owner)).toEqual({ turn: 2 })
  await expect(registry.prompt(id, { ...second, prompt: 'other' }, owner)).rejects.toMatchObject({
    code: 'idempotency_conflict',
  })
  await killed.agents.of(id).say(end)
  await killed.clock.advance(1)
  registry = await killed.restart()
  expect(await registry.prompt(id, second, owner)).toEqual({ turn: 2 })
  expect(await registry.prompt(id, first, owner)).toEqual({ turn: 1 })
  expect(killed.agents.of(id).prompts).toEqual(['one', 'two'])
  await killed.clock.advance(10 * 60_000)
  expect(await registry.prompt(id, { ...first, whenBusy: 'queue' }, owner)).toEqual({ turn: 3 })
})

test('16.3 a start that is repeated with its key after a kill gives the session that it gave, with its first prompt sent once', async () => {
  const killed = await host()
  const request = { adapter: 'fake', prompt: 'go', idempotencyKey: 'k' }
  const { id } = await killed.registry.spawn(request, owner)
  await settled()
  const registry = await killed.restart()
  expect(await registry.spawn(request, owner)).toMatchObject({ id, turn: { number: 1 } })
  await expect(registry.spawn({ ...request, label: 'other' }, owner)).rejects.toMatchObject({
    code: 'idempotency_conflict',
  })
  expect(killed.agents.of(id).prompts).toEqual(['go'])
  expect(killed.agents.all).toHaveLength(1)
})

test('16.3 a start whose first prompt was not logged before a kill: the repeated call sends it', async () => {
  const logs = new MemoryEventStore()
  let isRefused = true
  const killed = await host({
    logs: {
      delete: (id) => logs.delete(id),
      open: async (id) => {
        const { log, repairs } = await logs.open(id)
        const append = log.append.bind(log)
        log.append = (batch) =>
          isRefused && batch.some(({ type }) => type === 'user-prompt')
            ? Promise.reject(new Error('no space'))
            : append(batch)
        return { log, repairs }
      },
    },
  })
  const request = { adapter: 'fake', idempotencyKey: 'k', prompt: 'go' }
  await expect(killed.registry.spawn(request, owner)).rejects.toMatchObject({ code: 'storage_failed' })
  const [agent] = killed.agents.all
  isRefused = false
  const registry = await killed.restart()
  expect(await registry.spawn(request, owner)).toMatchObject({ id: agent?.sessionId, turn: { number: 1 } })
  await settled()
  expect(agent?.prompts).toEqual(['go'])
})

test('16.3 a prompt that was logged and not sent is sent by the next host', async () => {
  const killed = await host()
  const { id } = await killed.registry.spawn({ adapter: 'fake' }, owner)
  await settled()
  killed.agents.kill()
  await killed.registry.prompt(id, { prompt: 'lost?' }, owner)
  const agent = killed.agents.of(id)
  expect(agent.prompts).toEqual([])
  const registry = await killed.restart()
  expect(agent.prompts).toEqual(['lost?'])
  await agent.say(text('no'), end)
  await settled()
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn', text: 'no' })
})

test('16.3 a turn whose end is in the log and comes again is not ended twice, and the next prompt is sent', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  await killed.registry.prompt(id, { prompt: 'next', whenBusy: 'queue' }, owner)
  await agent.say(text('all'))
  // Its end is stored; the agent's connection ends before the next prompt reaches it.
  const ended = agent.say(end)
  await ended
  killed.kill()
  const registry = await killed.start()
  await settled()
  const events = await allEvents(registry, id)
  expect(types(events).filter((type) => type === 'turn-end')).toHaveLength(1)
  expect(agent.prompts.at(-1)).toBe('next')
  expect(agent.prompts.filter((prompt) => prompt === 'next')).toHaveLength(1)
})

test('16.3 a cancelled turn is still being cancelled, and its grace counts', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  void killed.registry.interrupt(id, owner)
  await settled()
  expect(agent.cancels).toBe(1)
  const registry = await killed.restart()
  await agent.say({ type: 'turn-end', reason: 'cancelled' })
  await settled()
  expect(await registry.get(id)).toMatchObject({ status: 'running', turn: { state: 'idle' } })
  await registry.prompt(id, { prompt: 'two' }, owner)
  void registry.interrupt(id, owner)
  await settled()
  const last = await killed.restart()
  await killed.clock.advance(60_000)
  expect(await last.get(id)).toMatchObject({ status: 'killed', stopReason: 'timeout' })
})

test('16.3 a turn that was interrupted before its prompt was sent is not expected of the agent', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  agent.isSlow = true
  await agent.say(text('one'), end)
  agent.rest()
  await killed.registry.prompt(id, { prompt: 'two' }, owner)
  const interrupted = killed.registry.interrupt(id, owner)
  agent.settle()
  expect(await interrupted).toMatchObject({ wasBusy: true })
  const registry = await killed.restart()
  expect(types(await allEvents(registry, id))).not.toContain('repair')
  agent.isSlow = false
  await registry.prompt(id, { prompt: 'three' }, owner)
  await settled()
  await agent.say(text('three'), end)
  expect(await registry.waitTurn(id, 3)).toMatchObject({ text: 'three' })
  expect(agent.prompts).toEqual(['go', 'three'])
})

test('16.3 a prompt that interrupts is carried out, also when the agent was not cancelled any more', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  await killed.registry.prompt(id, { prompt: 'rather this', whenBusy: 'interrupt' }, owner)
  agent.isCancelled = false
  const before = agent.cancels
  const registry = await killed.restart()
  expect(agent.cancels).toBe(before + 1)
  await agent.say({ type: 'turn-end', reason: 'cancelled' })
  await settled()
  expect(agent.prompts).toEqual(['go', expect.stringContaining('rather this')])
  expect(await registry.get(id)).toMatchObject({ turn: { number: 2, state: 'busy' } })
})

test('16.4 what does not agree ends the turn with a repair event that says so, and the session goes on', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  await agent.say(text('as it was'))
  const asked = agent.ask(permission('t1'))
  await settled()
  killed.kill()
  agent.spoil(() => [text('another one')])
  const registry = await killed.start()
  await settled()
  const events = await allEvents(registry, id)
  expect(types(events).slice(2)).toEqual([
    'user-prompt',
    'text-delta',
    'agent-prompt',
    'repair',
    'agent-prompt-resolved',
    'error',
    'turn-end',
  ])
  expect(events.find(({ type }) => type === 'repair')).toMatchObject({
    detail: expect.stringContaining('cannot be compared'),
    turn: 1,
  })
  expect(events.at(-1)).toMatchObject({ reason: 'error', turn: 1 })
  expect(agent.cancels).toBe(1)
  expect(await registry.get(id)).toMatchObject({ status: 'running', kept: true, turn: { state: 'idle' } })
  // The rest of that turn is no part of any.
  await agent.say(text('late'), { type: 'turn-end', reason: 'cancelled' })
  await settled()
  await registry.prompt(id, { prompt: 'two' }, owner)
  await settled()
  await agent.say(text('fine'), end)
  expect(await registry.waitTurn(id, 2)).toMatchObject({ text: 'fine', reason: 'end_turn' })
  expect(textOf(await allEvents(registry, id))).toBe('as it wasfine')
  void asked
})

test('16.4 a turn that was given up is not compared by a third host either', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  await agent.say(text('a'))
  killed.kill()
  agent.spoil(() => [text('b')])
  await killed.start()
  await settled()
  const registry = await killed.restart()
  await agent.say(text('late'), end)
  await settled()
  const events = await allEvents(registry, id)
  expect(types(events).filter((type) => type === 'repair')).toHaveLength(1)
  expect(textOf(events)).toBe('a')
  await registry.prompt(id, { prompt: 'two' }, owner)
  await settled()
  expect(agent.prompts).toEqual(['go', 'two'])
})

test('16.4 a log that has more than the agent sent again does not agree', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  await agent.say(text('a'), text('b'))
  killed.kill()
  agent.spoil(([first]) => (first === undefined ? [] : [first]))
  const registry = await killed.start()
  await settled()
  expect(types(await allEvents(registry, id)).slice(-3)).toEqual(['repair', 'error', 'turn-end'])
})

test('16.3 a kept session whose agent is gone is repaired as any other, with the prompts that waited', async () => {
  const killed = await host()
  const id = await busy(killed)
  await killed.registry.prompt(id, { prompt: 'two', whenBusy: 'queue' }, owner)
  killed.kill()
  killed.agents.of(id).isAlive = false
  const registry = await killed.start()
  expect(killed.leftovers).toEqual([id])
  expect(killed.problems.join()).toContain('could not be taken over')
  const session: Session = await registry.get(id)
  expect(session).toMatchObject({ status: 'error', stopReason: 'agent_crashed', resumable: true })
  expect(session.kept).toBeUndefined()
  expect((await registry.turns(id)).map(({ sent }) => sent)).toEqual([undefined, false])
})

test('16.3 one agent that is gone costs the others nothing', async () => {
  const killed = await host()
  const a = await busy(killed)
  const b = await busy(killed)
  killed.kill()
  killed.agents.of(a).isAlive = false
  const registry = await killed.start()
  expect(killed.leftovers).toEqual([a])
  expect((await registry.get(b)).status).toBe('running')
  await killed.agents.of(b).say(end)
  expect(await registry.waitTurn(b, 1)).toMatchObject({ reason: 'end_turn' })
})

test('16.6 each agent of an earlier host is counted once: it went on, or why it did not', async () => {
  const adoptions: unknown[] = []
  const killed = await host({ onAdoption: (refused) => void adoptions.push(refused) })
  const [gone, sleeping] = [await busy(killed), await busy(killed)]
  await busy(killed)
  await killed.registry.kill(sleeping, owner)
  expect(adoptions).toEqual([])
  killed.kill()
  killed.agents.of(gone).isAlive = false
  await killed.start()
  expect(new Set(adoptions)).toEqual(new Set(['not_adoptable', undefined]))
  expect(adoptions).toHaveLength(2)
})

/** A parent, its child, and the child of that, each with a running turn. */
async function family(started: Host): Promise<readonly [string, string, string]> {
  const start = async (more: Partial<SpawnAgentRequest>, by: Principal): Promise<string> => {
    const { id } = await started.registry.spawn({ adapter: 'fake', prompt: 'go', ...more }, by)
    await settled()
    return id
  }
  const parent = await start({ delegation: { maxDepth: 2 } }, owner)
  const child = await start({}, asAgent(parent))
  return [parent, child, await start({}, asAgent(child))]
}

const asAgent = (id: string): Principal => ({ type: 'session', name: `session ${id}`, sessionId: id, delegates: true })

test('16.3 what one agent has written is not read before each of them is found', async () => {
  const begun: string[] = []
  let find = (): void => undefined
  const isFound = new Promise<void>((resolve) => (find = resolve))
  let slow = ''
  const killed: Host = await host({
    adoptAgent: async (options, sink) => {
      const agent = await killed.agents.adoptAgent(options, sink)
      if (options.sessionId === slow) await isFound
      return agent && { ...agent, begin: () => (begun.push(options.sessionId), agent.begin()) }
    },
  })
  const [first, second, gone] = [await busy(killed), await busy(killed), await busy(killed)]
  slow = second
  killed.kill()
  killed.agents.of(gone).isAlive = false
  const starting = killed.start()
  await settled()
  expect(begun).toEqual([])
  find()
  await starting
  expect(begun.toSorted()).toEqual([first, second].toSorted())
})

test('16.3 children keep their parents, and what they may do', async () => {
  const killed = await host()
  const [parent, child, grandchild] = await family(killed)
  const before = await Promise.all([child, grandchild].map((id) => killed.registry.get(id)))
  const registry = await killed.restart()
  for (const { id, parentSessionId, rootSessionId, depth, delegation, expiresAt } of before) {
    const same = { parentSessionId, rootSessionId, depth, delegation, expiresAt }
    expect(await registry.get(id)).toMatchObject({ status: 'running', ...same })
  }
  await expect(registry.spawn({ adapter: 'fake' }, asAgent(grandchild))).rejects.toMatchObject({
    code: 'max_depth_exceeded',
  })
  await registry.kill(parent, owner)
  for (const id of [child, grandchild])
    expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'user_canceled' })
})

test('16.3 a parent that is not taken over ends its children, as a parent that crashes does', async () => {
  const killed = await host()
  const [parent, child, grandchild] = await family(killed)
  killed.kill()
  killed.agents.of(parent).isAlive = false
  const registry = await killed.start()
  expect(await registry.get(parent)).toMatchObject({ status: 'error', stopReason: 'agent_crashed', resumable: true })
  for (const id of [child, grandchild])
    expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'shutdown' })
  expect(killed.agents.all.filter(({ isAlive }) => isAlive)).toEqual([])
  // Its old children stay as they are, and it may have new ones.
  await registry.resume(parent, {}, owner)
  expect(await registry.get(child)).toMatchObject({ status: 'killed', parentSessionId: parent })
  await registry.spawn({ adapter: 'fake' }, asAgent(parent))
})

test('16.3 a child that is not taken over costs its parent nothing', async () => {
  const killed = await host()
  const [parent, child, grandchild] = await family(killed)
  killed.kill()
  killed.agents.of(child).isAlive = false
  const registry = await killed.start()
  expect((await registry.get(parent)).status).toBe('running')
  expect(await registry.get(child)).toMatchObject({ status: 'error', parentSessionId: parent })
  expect(await registry.get(grandchild)).toMatchObject({ status: 'killed', stopReason: 'shutdown' })
  await killed.agents.of(parent).say(end)
  expect(await registry.waitTurn(parent, 1)).toMatchObject({ reason: 'end_turn' })
})

test('16.3 an agent that ended meanwhile ends its session with all that it said', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  killed.kill()
  await agent.say(text('last words'))
  const starting = killed.start()
  const registry = await starting
  agent.die()
  await settled()
  expect(await registry.get(id)).toMatchObject({ status: 'exited', stopReason: 'agent_crashed' })
  expect(textOf(await allEvents(registry, id))).toBe('last words')
})

test('16.3 a budget that a session shares with its children counts what no record had', async () => {
  const killed = await host()
  const parent = await killed.registry.spawn({ adapter: 'fake', budget: { turns: 3 }, delegation: {} }, owner)
  const by = { type: 'session', name: 'parent', sessionId: parent.id, delegates: true } as const
  const { id } = await killed.registry.spawn({ adapter: 'fake' }, by)
  await killed.saved()
  const agent = killed.agents.of(id)
  const turn = async (registry: SessionRegistry): Promise<void> => {
    await registry.prompt(id, { prompt: 'go' }, owner)
    await settled()
    await agent.say(end)
    await settled()
  }
  await killed.registry.prompt(parent.id, { prompt: 'wait' }, owner)
  await settled()
  await turn(killed.registry)
  const registry = await killed.restart()
  await turn(registry)
  await expect(registry.prompt(id, { prompt: 'go' }, owner)).rejects.toMatchObject({ code: 'budget_exceeded' })
})

test('16.3 silence and idleness count by the clock, not from the start of the host', async () => {
  const killed = await host({ config: { inactivityMs: 600_000, warningMs: 300_000, cancelGraceMs: 1_000 } })
  const id = await busy(killed)
  await killed.agents.of(id).say(text('a'))
  await killed.clock.advance(500_000)
  await killed.restart()
  expect(killed.agents.of(id).cancels).toBe(0)
  await killed.clock.advance(101_000)
  expect(killed.agents.of(id).cancels).toBe(1)
})

test('16.3 what an agent did while no gateway ran is a sign of life', async () => {
  const killed = await host({ config: { inactivityMs: 600_000, warningMs: 300_000 } })
  const id = await busy(killed)
  killed.kill()
  await killed.clock.advance(900_000)
  await killed.agents.of(id).say(text('still there'))
  const registry = await killed.start()
  await killed.clock.advance(120_000)
  expect(killed.agents.of(id).cancels).toBe(0)
  expect(await registry.get(id)).toMatchObject({ health: 'healthy' })
})

test('16.5 a turn that begins while the host leaves its agents: its prompt is sent once, by the next host', async () => {
  const killed = await host()
  const { id } = await killed.registry.spawn({ adapter: 'fake' }, owner)
  await settled()
  const agent = killed.agents.of(id)
  const prompted = killed.registry.prompt(id, { prompt: 'go' }, owner)
  await killed.registry.close({ keepAgents: true })
  expect(await prompted).toEqual({ turn: 1 })
  expect(agent.prompts).toEqual([])
  const registry = await killed.restart()
  await agent.say(text('gone'), end)
  expect(agent.prompts).toEqual(['go'])
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn', text: 'gone' })
  expect(types(await allEvents(registry, id))).not.toContain('repair')
})

test('16.6 a kill while the host leaves its agents: the agent is gone, or the kill is refused and the session goes on', async () => {
  const killed = await host()
  const [early, late] = [await busy(killed), await busy(killed)]
  const before = killed.registry.kill(early, owner)
  const closed = killed.registry.close({ keepAgents: true })
  await expect(killed.registry.kill(late, owner)).rejects.toMatchObject({ code: 'shutting_down' })
  expect(await before).toEqual({ ok: true })
  await closed
  expect([killed.agents.of(early).isAlive, killed.agents.of(late).isAlive]).toEqual([false, true])
  const registry = await killed.restart()
  expect(await registry.get(early)).toMatchObject({ status: 'killed', stopReason: 'user_canceled' })
  expect(await registry.get(late)).toMatchObject({ status: 'running', turn: { number: 1, state: 'busy' } })
  expect(await registry.kill(late, owner)).toEqual({ ok: true })
  expect(killed.agents.of(late).isAlive).toBe(false)
})

test('16.5 a host that leaves its agents ends nothing, and its readers come to their end', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  await agent.say(text('one '))
  const reader = await killed.registry.follow(id, 0)
  await killed.registry.close({ keepAgents: true })
  const seen: string[] = []
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next())
    seen.push(...batch.records.map(({ type }) => type))
  expect(seen).toEqual(['status', 'status', 'user-prompt', 'text-delta'])
  expect(agent.stops).toBe(0)
  void agent.say(text('two '))
  const registry = await killed.restart()
  await agent.say(text('three'), end)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ text: 'one two three' })
  expect(statuses(await allEvents(registry, id))).toEqual(['starting', 'running'])
})

test('16.5 a host that leaves its agents while they catch up cancels no request of theirs', async () => {
  const killed = await host()
  const id = await busy(killed)
  const agent = killed.agents.of(id)
  const asked = agent.ask(permission('t1'))
  await settled()
  killed.kill()
  const emit = agent.holdAgain()
  await killed.open()
  await killed.registry.close({ keepAgents: true })
  emit()
  await settled()
  const registry = await killed.restart()
  const [request] = await registry.requests(id)
  expect(request).toMatchObject({ state: 'pending' })
  const allow = { outcome: 'selected', optionId: 'yes' } as const
  await registry.answer({ id, requestId: request?.requestId ?? '' }, allow, owner)
  expect(await asked).toMatchObject(allow)
})

type Op = 'say' | 'think' | 'tool' | 'stderr' | 'ask' | 'queue' | 'end' | 'down' | 'up' | 'save' | 'twice'

/** A host that is killed by some words, and an agent that does what the others say. */
async function player(batchSize: number) {
  const started = await host({ config: { inactivityMs: 10 ** 9, warningMs: 10 ** 9, progressMs: 10 ** 9 } })
  started.agents.batchSize = batchSize
  const id = await busy(started)
  const agent = started.agents.of(id)
  let isUp = true
  let at = 0
  const up = async (): Promise<void> => {
    if (!isUp) await started.start()
    isUp = true
  }
  const down = (): void => {
    started.kill()
    isUp = false
  }
  const steps: Readonly<Record<Op, () => Promise<unknown>>> = {
    say: () => agent.say(text(`${at} `), text('and ')),
    think: () => agent.say({ type: 'thought', text: `${at} ` }),
    stderr: () => agent.say({ type: 'output', stream: 'stderr', text: `line ${at}` }),
    tool: () =>
      agent.say(
        { type: 'tool-call', toolCallId: `t${at}`, title: 'Run' },
        { type: 'tool-result', toolCallId: `t${at}`, status: 'completed' },
      ),
    ask: async () => {
      const answered = agent.ask(question)
      await settled()
      await up()
      const waiting = (await started.registry.requests(id)).findLast(({ state }) => state === 'pending')
      const key = { id, requestId: waiting?.requestId ?? '' }
      await started.registry.answer(key, { outcome: 'accept', content: { at } }, owner)
      expect(await answered).toMatchObject({ content: { at } })
    },
    queue: async () => {
      await up()
      await started.registry.prompt(id, { prompt: `${at}`, whenBusy: 'queue' }, owner)
    },
    end: async () => (await isBusy(started, id)) && agent.say(text('done'), end),
    down: async () => down(),
    up,
    save: async () => isUp && started.saved(),
    // Killed again while it starts.
    twice: async () => {
      down()
      void started.start()
      await new Promise(setImmediate)
      started.kill()
    },
  }
  return {
    started,
    id,
    agent,
    async play(op: Op): Promise<void> {
      if (!isOfHost(op)) at += 1
      await steps[op]()
      await settled()
    },
  }
}

/** @returns what the log and the agent say when everything has ended */
async function played(ops: readonly Op[], batchSize: number): Promise<unknown> {
  const { started, id, agent, play } = await player(batchSize)
  for (const op of [...ops, ...ENDING]) await play(op)
  const events = await allEvents(started.registry, id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(statuses(events)).toEqual(['starting', 'running'])
  const turns = await started.registry.turns(id)
  return { log: contentOf(events), prompts: agent.prompts, turns: turns.map(({ number, reason }) => [number, reason]) }
}

const ENDING: readonly Op[] = ['up', ...Array.from({ length: 12 }, (): Op => 'end')]
const isOfHost = (op: Op): boolean => op === 'down' || op === 'up' || op === 'twice'

/** Whether the agent works: a host that is down cannot be asked. */
async function isBusy({ registry }: Host, id: string): Promise<boolean> {
  const events = await allEvents(registry, id)
  return (
    types(events).filter((type) => type === 'user-prompt').length >
    types(events).filter((type) => type === 'turn-end').length
  )
}

/** Without ids and times; neighbouring text is one, and stderr is apart. */
function contentOf(events: readonly SessionEvent[]): unknown {
  const main: unknown[] = []
  const stderr: unknown[] = []
  let open: { type: string; turn: number | undefined; text: string } | undefined
  for (const event of events) {
    if (event.type === 'output') stderr.push(event.text)
    else if (event.type === 'text-delta' || event.type === 'thought') {
      if (open?.type === event.type && open.turn === event.turn) open.text += event.text
      else main.push((open = { type: event.type, turn: event.turn, text: event.text }))
    } else {
      open = undefined
      main.push([event.type, event.turn])
    }
  }
  return { main, stderr: stderr.join('\n') }
}

test('16.3 whenever the host is killed, also twice in a row and while it starts, log and agent are as without that', async () => {
  const op = fc.constantFrom<Op>('say', 'think', 'tool', 'stderr', 'ask', 'queue', 'end', 'down', 'up', 'save', 'twice')
  await fc.assert(
    fc.asyncProperty(fc.array(op, { maxLength: 14 }), fc.integer({ min: 1, max: 4 }), async (ops, batchSize) => {
      const calm = ops.filter((each) => !isOfHost(each))
      // What an agent does after its turn has ended depends on when the next prompt comes.
      const within = untilEnd(ops)
      expect(await played(within, batchSize)).toEqual(await played(untilEnd(calm), batchSize))
    }),
    { numRuns: 100 },
  )
}, 120_000)

/** The words of the first turn, then its end and those that change only the host. */
function untilEnd(ops: readonly Op[]): readonly Op[] {
  const at = ops.indexOf('end')
  if (at < 0) return ops
  return [...ops.slice(0, at + 1), ...ops.slice(at + 1).filter(isOfHost)]
}
