import { setImmediate as turn } from 'node:timers/promises'
import { mcpArm } from '@agentproto/arm-mcp'
import { type AgentAnswer, asRecord, type Json, systemClock } from '@agentproto/contracts'
import {
  type AdoptedSession,
  type AgentSignal,
  type ArmConnectOptions,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
} from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { Host, joined, Log, places, quiet, story } from '../../../../tooling/killed-host.ts'
import { type Controller, MemoryKeeper } from '../../../../tooling/memory-keeper.ts'
import { profile } from './subject.ts'

const ALLOW: AgentAnswer = { outcome: 'selected', optionId: 'yes' }
const PROMPT = [{ type: 'text', text: 'go' }] as const
const CANCELLED = { type: 'turn-end', reason: 'cancelled' }
const END = { type: 'turn-end', reason: 'end_turn' }

const string = { type: 'string' }
const TOOLS = [
  { name: 'start', inputSchema: { type: 'object', properties: { prompt: string }, required: ['prompt'] } },
  {
    name: 'go-on',
    inputSchema: { type: 'object', properties: { prompt: string, threadId: string }, required: ['prompt', 'threadId'] },
  },
]

interface AgentTraits {
  /** It says no more in a cancelled turn, as MCP has it. */
  readonly isDeaf?: boolean
  /** It does not name its conversation. */
  readonly isNameless?: boolean
}

/**
 * An agent whose turn has everything that a turn can have. Each answer that it gets is written down. It answers a call only
 * when the next one comes: its turn ends with an event.
 */
function fullAgent({ isDeaf = false, isNameless = false }: AgentTraits = {}) {
  const received: Json[] = []
  let isCancelled = false
  const calls: unknown[] = []
  let said = ''
  const receive = (line: string, say: (text: string) => void): void => {
    const message = asRecord(line === '' ? {} : JSON.parse(line))
    const { id, method } = message
    const write = (text: string): void => {
      said += text
      say(text)
    }
    const send = (more: object): void => write(`${JSON.stringify({ jsonrpc: '2.0', ...more })}\n`)
    const event = (kind: string, more: object = {}): void =>
      send({ method: 'fixture/event', params: { thread: 'thread-1', event: { said: kind, ...more } } })
    const speak = (words: string): void => event('say', { text: words })
    const form = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } }
    const turns = calls.length
    received.push(message)
    if (method === 'notifications/cancelled') isCancelled = isDeaf
    if (isCancelled) return
    if (method === 'initialize') {
      const serverInfo = { name: 'full', version: '1' }
      send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } })
    } else if (method === 'tools/list') send({ id, result: { tools: TOOLS } })
    else if (method === 'tools/call') {
      calls.push(id)
      const last = calls.at(-2)
      if (last !== undefined) send({ id: last, result: { content: [{ type: 'text', text: 'too late' }] } })
      if (!isNameless) event('named', { id: 'thread-1' })
      if (asRecord(asRecord(message['params'])['arguments'])['prompt'] === 'break')
        return event('broken', { text: 'out of order' })
      send({ method: 'notifications/progress', params: { progressToken: id, progress: 1, message: 'first' } })
      speak('grüße ')
      speak('und 😀 ')
      send({ id: `ping${turns + 1}`, method: 'ping' })
      send({ id: `roots${turns + 1}`, method: 'roots/list' })
      event('tool', { id: `t${turns + 1}`, title: 'Edit' })
      const permission = { ...form, fixture: 'permission', call: id, toolCallId: `t${turns + 1}` }
      send({ id: `ask${turns + 1}`, method: 'elicitation/create', params: { ...permission, message: 'Edit a.txt' } })
      speak('waiting ')
    } else if (id === `ask${turns}`) {
      event('tool-end', { id: `t${turns}`, title: 'Edit', output: 'done', status: 'completed' })
      send({ id: `form${turns}`, method: 'elicitation/create', params: form })
    } else if (id === `form${turns}`) {
      send({ method: 'notifications/message', params: { level: 'warning', data: 'low disk' } })
      send({ id: `odd${turns}`, method: 'elicitation/create', params: { mode: 'new' } })
      write('a banner\n')
      speak('last')
      event('over')
    }
  }
  const answersTo = (wanted: string): number => received.filter(({ id }) => id === wanted).length
  return { receive, received, answersTo, said: () => Buffer.from(said) }
}

interface Running {
  readonly keeper: MemoryKeeper
  readonly agent: ReturnType<typeof fullAgent>
  readonly options: ArmConnectOptions
  readonly log: Log
  readonly host: Host
  readonly controller: Controller
  readonly session: ArmSession
}

/** What a manifest says of the agent. */
function fullProfile(): object {
  const { data } = profile
  const { events, ...more } = asRecord(data)
  const [source] = Array.isArray(events) ? events : []
  const map = {
    ...asRecord(asRecord(source)['map']),
    named: { event: 'session', id: 'event.id' },
    over: { event: 'turn-end', reason: 'end_turn' },
    broken: { event: 'error', message: 'event.text', final: true },
  }
  return { transport: 'stdio', data: { ...more, events: [{ ...asRecord(source), map }] } }
}

/** The first host: it has opened a session, and all of that is acknowledged. */
async function running(answer?: AgentAnswer, traits?: AgentTraits): Promise<Running> {
  const keeper = new MemoryKeeper()
  const agent = fullAgent(traits)
  const log = new Log()
  const host = new Host(log, { answer })
  let controller: Controller | undefined
  const start = {
    spawn: async () => (controller = keeper.host('key', agent.receive)),
    adopt: () => keeper.adopt('key'),
  }
  const options: ArmConnectOptions = {
    launch: { command: process.execPath, args: [], cwd: '/', env: {}, marker: 'mcp-adoption' },
    limits: DEFAULT_ARM_LIMITS,
    clock: systemClock,
    signal: new AbortController().signal,
    client: { name: 'test', version: '0' },
    profile: fullProfile(),
  }
  const connection = await mcpArm.connect({
    ...options,
    keep: { keeper: start, key: 'key', host: { sandbox: 'none' } },
  })
  const opening = { cwd: '/work', additionalDirectories: ['/opt'], mcpServers: [], origin: { how: 'new' } } as const
  const session = await connection.openSession(opening, host)
  await turn()
  if (!controller) throw new Error('nothing was spawned')
  return { keeper, agent, options, log, host, controller, session }
}

interface Adopted {
  readonly controller: Controller
  readonly host: Host
  readonly session: AdoptedSession
}

/** A later host, before it begins. */
async function adopt({ keeper, options, log }: Running, answer?: AgentAnswer): Promise<Adopted> {
  const controller = await keeper.adopt('key')
  if (!controller) throw new Error('nothing is kept')
  const from = asRecord(JSON.parse(controller.facts))['mark']
  const host = new Host(log, { from: Number(from), answer })
  host.isReplay = true
  const adopted = await mcpArm.adopt?.({ ...options, agent: controller }, host)
  if (!adopted) throw new Error('the arm adopts nothing')
  expect(adopted.session.mark).toBe(from)
  return { controller, host, session: adopted.session }
}

/** The host is gone, with all that it has not stored. */
function kill({ controller, host }: Pick<Running, 'controller' | 'host'>): void {
  controller.kill()
  host.isKilled = true
}

/** All that the agent said is acknowledged: this comes a moment after a turn. */
async function rested({ agent }: Running, { acknowledged }: Controller): Promise<void> {
  await expect.poll(() => acknowledged.at(-1)?.stdout, { interval: 1 }).toBe(agent.said().length)
}

interface Uninterrupted {
  readonly reported: AgentSignal[]
  readonly opened: number
  readonly said: Buffer
}

async function uninterrupted(): Promise<Uninterrupted> {
  const run = await running(ALLOW)
  const opened = run.controller.acknowledged.at(-1)?.stdout ?? 0
  await run.session.send(PROMPT)
  await quiet()
  expect(run.controller.faults).toEqual([])
  return { reported: story(run.log.signals), opened, said: run.agent.said() }
}

test('16.a3 MCP: points at the opening, before the prompt and after the turn', async () => {
  const { reported, said, opened } = await uninterrupted()
  expect(opened).toBeGreaterThan(100)
  expect(said.length - opened).toBeGreaterThan(1_000)
  expect(reported.map(({ type }) => type)).toEqual([
    'thought',
    'text-delta',
    'tool-call',
    // With the title of the permission.
    'tool-call',
    'text-delta',
    'tool-result',
    'notice',
    'extension',
    'output',
    'text-delta',
    'turn-end',
  ])
})

test.each([
  ['answered by the first host', ALLOW],
  ['answered by the second host', undefined],
])('16.a3 MCP: a host that is killed at any byte of a turn, whose requests are %s', async (_, answer) => {
  const { reported, said, opened } = await uninterrupted()
  // Without an answer of the first host, the agent waits; the bytes after that never come.
  for (const at of places(said.subarray(opened))) {
    const run = await running(answer)
    run.controller.readable = opened + at
    void run.session.send(PROMPT)
    await quiet()
    kill(run)
    const later = await adopt(run, ALLOW)
    const begun = later.session.begin()
    // At its last byte the turn may be over.
    const isOver = begun === undefined && at === said.length - opened
    expect(isOver || begun?.cancelling === false, `killed at ${at}`).toBe(true)
    await begun?.done
    await later.session.caughtUp
    expect(story(joined(run.log, later)), `killed at ${at}`).toEqual(reported)
    const answers = ['ping1', 'roots1', 'ask1', 'form1', 'odd1'].map(run.agent.answersTo)
    expect(answers, `killed at ${at}`).toEqual([1, 1, 1, 1, 1])
    expect(later.session.agentSessionId).toBe('thread-1')
    const { acknowledged } = isOver ? run.controller : later.controller
    await expect.poll(() => acknowledged.length, { interval: 1 }).toBeGreaterThan(0)
    expect(later.controller.faults).toEqual([])
  }
})

test('16.a3 MCP: a prompt that was not written is not a turn: the next host sends it', async () => {
  const run = await running()
  run.controller.kill()
  void run.session.send(PROMPT)
  await quiet()
  const later = await adopt(run, ALLOW)
  expect(later.session.begin()).toBeUndefined()
  await later.session.send(PROMPT)
  expect(later.host.emitted.at(-1)).toEqual(END)
  expect(run.agent.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1)
  const roots = run.agent.received.find(({ id }) => id === 'roots1')
  expect(roots?.['result']).toMatchObject({ roots: [{ uri: 'file:///work' }, { uri: 'file:///opt' }] })
})

test('16.a3 MCP: an answer that was stored and not delivered is delivered once', async () => {
  const run = await running(ALLOW)
  // The prompt, and the answers to the ping and the roots, still arrive.
  run.controller.writable = 3
  void run.session.send(PROMPT)
  await expect.poll(() => [...run.log.asked.values()]).toEqual([ALLOW])
  kill(run)
  const later = await adopt(run)
  const begun = later.session.begin()
  // The question is new, and waits.
  await expect.poll(() => later.host.waiting.length).toBe(1)
  expect(run.agent.answersTo('ask1')).toBe(1)
  later.host.waiting[0]?.answer({ outcome: 'accept', content: { name: 'heron' } })
  await begun?.done
  expect(run.log.answered).toEqual([])
  expect(run.agent.received.find(({ id }) => id === 'form1')?.['result']).toMatchObject({ action: 'accept' })
})

test.each([
  ['with its answers', Infinity],
  ['without the answers to what was pending', 4],
])('16.a3 MCP: a cancel that was written %s is not written again, and the turn is cancelled', async (_, writable) => {
  const run = await running()
  run.controller.writable = writable
  void run.session.send(PROMPT)
  await expect.poll(() => run.host.waiting.length).toBe(1)
  void run.session.cancel()
  kill(run)
  await quiet()
  const later = await adopt(run)
  const begun = later.session.begin()
  expect(begun?.cancelling).toBe(true)
  await later.session.caughtUp
  await begun?.done
  expect(story(joined(run.log, later)).at(-1)).toEqual(CANCELLED)
  expect(run.agent.received.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1)
  expect(run.agent.answersTo('ask1')).toBe(1)
})

test('16.a3 MCP: a cancelled turn that its host has ended is over before everything is said to be read', async () => {
  const run = await running(undefined, { isDeaf: true })
  void run.session.send(PROMPT)
  await expect.poll(() => run.host.waiting.length).toBe(1)
  await run.session.cancel()
  // The turn ends half a second later, and nothing of that is acknowledged.
  run.controller.acknowledge = async () => {}
  await expect.poll(() => run.log.signals.at(-1)).toEqual(CANCELLED)
  kill(run)
  const later = await adopt(run)
  expect(later.session.begin()?.cancelling).toBe(true)
  await later.session.caughtUp
  expect(story(joined(run.log, later))).toEqual(story(run.log.signals))
})

test('16.a3 MCP: a cancelled turn that nobody ends is ended by the next host', async () => {
  const run = await running(undefined, { isDeaf: true })
  void run.session.send(PROMPT)
  await expect.poll(() => run.host.waiting.length).toBe(1)
  void run.session.cancel()
  kill(run)
  const later = await adopt(run)
  await later.session.begin()?.done
  expect(story(joined(run.log, later)).at(-1)).toEqual(CANCELLED)
})

test('16.a3 MCP: a question that its host has not asked is not taken for one that was answered', async () => {
  const run = await running()
  void run.session.send(PROMPT)
  await expect.poll(() => run.host.waiting.length).toBe(1)
  run.controller.acknowledge = async () => {}
  await run.session.cancel()
  await expect.poll(() => run.agent.answersTo('form1')).toBe(1)
  kill(run)
  const later = await adopt(run)
  await later.session.begin()?.done
  expect(run.log.answered.map(({ kind }) => kind)).toEqual(['permission'])
  expect(run.agent.answersTo('form1')).toBe(1)
})

test('16.a3 MCP: that an agent has not named its conversation is reported once, in each turn', async () => {
  const run = await running(ALLOW, { isNameless: true })
  await run.session.send(PROMPT)
  await rested(run, run.controller)
  run.controller.readable = run.agent.said().length + 300
  void run.session.send(PROMPT)
  await quiet()
  kill(run)
  const later = await adopt(run, ALLOW)
  await later.session.begin()?.done
  const signals = joined(run.log, later)
  expect(signals.filter((signal) => signal.type === 'notice' && /named its session/.test(signal.text))).toHaveLength(1)
  const calls = run.agent.received.filter(({ method }) => method === 'tools/call')
  expect(calls.map(({ params }) => asRecord(params)['name'])).toEqual(['start', 'start'])
})

test('16.a3 MCP: an agent that cannot go on with its conversation is not asked to by the next host', async () => {
  const run = await running(ALLOW)
  void run.session.send([{ type: 'text', text: 'break' }])
  await expect.poll(() => run.log.signals.at(-1)?.type).toBe('error')
  await run.session.cancel()
  await expect.poll(() => run.log.signals.at(-1)).toMatchObject(CANCELLED)
  await rested(run, run.controller)
  kill(run)
  const later = await adopt(run, ALLOW)
  expect(later.session.begin()).toBeUndefined()
  await later.session.send(PROMPT)
  expect(later.host.emitted).toMatchObject([
    { type: 'error', message: expect.stringContaining('out of order') },
    { type: 'turn-end', reason: 'error' },
  ])
})

test('16.a3 MCP: two turns, each adopted in its middle; ids go on, and late answers are dropped', async () => {
  const run = await running(ALLOW)
  run.controller.readable = (run.controller.acknowledged.at(-1)?.stdout ?? 0) + 500
  void run.session.send(PROMPT)
  await quiet()
  kill(run)
  const second = await adopt(run, ALLOW)
  await second.session.begin()?.done
  await rested(run, second.controller)
  // What the second host emitted is stored now, as its registry would have it.
  run.log.signals.splice(second.session.mark, Infinity, ...second.host.emitted)
  second.controller.readable = (second.controller.acknowledged.at(-1)?.stdout ?? 0) + 500
  void second.session.send(PROMPT)
  await quiet()
  run.log.signals.splice(second.session.mark, Infinity, ...second.host.emitted)
  kill(second)
  const third = await adopt(run, ALLOW)
  await third.session.begin()?.done
  const signals = joined(run.log, third)
  expect(signals.filter(({ type }) => type === 'turn-end')).toEqual([END, END])
  expect(JSON.stringify(signals)).not.toContain('too late')
  const calls = run.agent.received.filter(({ method }) => method === 'tools/call')
  expect(calls.map(({ params }) => asRecord(params)['name'])).toEqual(['start', 'go-on'])
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
})

test.each([
  ['no facts', ''],
  ['facts of another version', '{"version":2,"mark":0,"host":{},"arm":{}}'],
  ['facts of another arm', '{"version":1,"mark":0,"host":{},"arm":{"protocol":"acp"}}'],
])('16.a3 MCP: %s are not adoptable, and the agent is left as it is', async (_, facts) => {
  const run = await running()
  const before = run.agent.received.length
  const offsets = run.controller.acknowledged.at(-1)
  if (offsets) await run.controller.acknowledge(offsets, facts, false)
  const agent = await run.keeper.adopt('key')
  if (!agent) throw new Error('nothing is kept')
  const adopting = mcpArm.adopt?.({ ...run.options, agent }, new Host(run.log))
  await expect(adopting).rejects.toMatchObject({ code: 'not_adoptable' })
  expect(run.agent.received).toHaveLength(before)
})
