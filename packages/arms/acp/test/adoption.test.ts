import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { adoptAcp, connectAcp } from '@agentproto/acp'
import { type AgentAnswer, asRecord, type Json } from '@agentproto/contracts'
import type { AdoptedSession, AgentSignal, ArmConnectOptions, ArmSession } from '@agentproto/contracts/agent'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { Host, joined, Log, places, quiet, story } from '../../../../tooling/killed-host.ts'
import { type Controller, MemoryKeeper } from '../../../../tooling/memory-keeper.ts'
import { fixture } from './connecting.ts'

const ALLOW: AgentAnswer = { outcome: 'selected', optionId: 'allow' }
const PROMPT = [{ type: 'text', text: 'go' }] as const
const OPTIONS = [{ optionId: 'allow', name: 'Allow', kind: 'allow_once' }]
const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code' },
  ],
}

/** An agent whose turn has everything that a turn can have. Each answer that it gets is written down. */
function fullAgent(root: string) {
  const received: Json[] = []
  let said = ''
  let prompt: unknown
  let turns = 0
  const receive = (line: string, say: (text: string) => void): void => {
    const message = asRecord(line === '' ? {} : JSON.parse(line))
    const { id, method } = message
    const send = (more: object): void => write(`${JSON.stringify({ jsonrpc: '2.0', ...more })}\n`)
    const write = (text: string): void => {
      said += text
      say(text)
    }
    const update = (sessionUpdate: string, more: object): void =>
      send({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate, ...more } } })
    const speak = (words: string, kind = 'agent_message_chunk'): void =>
      update(kind, { content: { type: 'text', text: words } })
    received.push(message)
    if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } })
    else if (method === 'session/new') send({ id, result: { sessionId: 's', modes: MODES } })
    else if (method === 'session/set_mode') {
      speak('changing ')
      send({ id, result: {} })
      speak('changed ')
    } else if (method === 'session/cancel') {
      send({ id: prompt, result: { stopReason: 'cancelled' } })
    } else if (method === 'session/prompt') {
      prompt = id
      turns++
      speak('first ', 'agent_thought_chunk')
      speak('grüße ')
      speak('und 😀 ')
      update('tool_call', { toolCallId: `t${turns}`, title: 'Edit', kind: 'edit', status: 'pending' })
      const toolCall = { toolCallId: `t${turns}`, title: 'Edit a.txt', rawInput: { path: 'a.txt' } }
      send({
        id: `ask${turns}`,
        method: 'session/request_permission',
        params: { sessionId: 's', toolCall, options: OPTIONS },
      })
      speak('waiting ')
    } else if (id === `ask${turns}`) {
      update('tool_call_update', { toolCallId: `t${turns}`, status: 'completed' })
      const params = { sessionId: 's', path: join(root, 'a.txt'), content: `written ${turns}` }
      send({ id: `write${turns}`, method: 'fs/write_text_file', params })
    } else if (id === `write${turns}`) {
      update('current_mode_update', { currentModeId: 'code' })
      write('a banner\n')
      speak('last')
      send({ id: prompt, result: { stopReason: 'end_turn' } })
    }
  }
  const answersTo = (wanted: string): number => received.filter(({ id }) => id === wanted).length
  return { receive, received, answersTo, said: () => Buffer.from(said) }
}

interface Running {
  readonly keeper: MemoryKeeper
  readonly agent: ReturnType<typeof fullAgent>
  readonly folder: string
  readonly options: ArmConnectOptions
  readonly log: Log
  readonly host: Host
  readonly controller: Controller
  readonly session: ArmSession
}

let folder = ''

/** The first host: it has opened a session, and all of that is acknowledged. */
async function running(answer?: AgentAnswer): Promise<Running> {
  if (folder === '') {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'acp-adoption-')))
  }
  const keeper = new MemoryKeeper()
  const agent = fullAgent(folder)
  const log = new Log()
  const host = new Host(log, { answer })
  let controller: Controller | undefined
  const start = {
    spawn: async () => (controller = keeper.host('key', agent.receive)),
    adopt: () => keeper.adopt('key'),
  }
  const plain = fixture('echo')
  const options = { ...plain, launch: { ...plain.launch, cwd: folder }, serve: { fs: true } }
  const connection = await connectAcp({ ...options, keep: { keeper: start, key: 'key', host: { sandbox: 'none' } } })
  const opening = { cwd: folder, additionalDirectories: [], mcpServers: [], origin: { how: 'new' } } as const
  const session = await connection.openSession(opening, host)
  await turn()
  if (!controller) throw new Error('nothing was spawned')
  return { keeper, agent, folder, options, log, host, controller, session }
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
  const { session } = await adoptAcp({ ...options, agent: controller }, host)
  expect(session.mark).toBe(from)
  return { controller, host, session }
}

async function uninterrupted(): Promise<{
  readonly reported: AgentSignal[]
  readonly bytes: number
  readonly opened: number
  readonly said: Buffer
}> {
  const run = await running(ALLOW)
  const opened = run.controller.acknowledged.at(-1)?.stdout ?? 0
  await run.session.send(PROMPT)
  const acknowledged = (): number => (run.controller.acknowledged.at(-1)?.stdout ?? 0) - opened
  await expect.poll(acknowledged).toBeGreaterThan(0)
  const bytes = acknowledged()
  expect(run.controller.faults).toEqual([])
  return { reported: story(run.log.signals), bytes, opened, said: run.agent.said() }
}

test('16.a3 a session of its own keeper: points at the opening, before the prompt and after the turn', async () => {
  const { reported, bytes, opened } = await uninterrupted()
  expect(reported.at(-1)).toEqual({ type: 'turn-end', reason: 'end_turn' })
  expect(opened).toBeGreaterThan(100)
  expect(bytes).toBeGreaterThan(1_000)
  expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('written 1')
})

test.each([
  ['answered by the first host', ALLOW],
  ['answered by the second host', undefined],
])('16.a3 a host that is killed at any byte of a turn, whose requests are %s', async (_, answer) => {
  onTestFinished(() => rm(folder, { recursive: true, force: true }).then(() => void (folder = '')))
  const { reported, said, opened } = await uninterrupted()
  // Without an answer of the first host, the agent waits; the bytes after that never come.
  for (const at of places(said.subarray(opened))) {
    const run = await running(answer)
    run.controller.readable = opened + at
    void run.session.send(PROMPT)
    await quiet()
    run.controller.kill()
    run.host.isKilled = true
    const later = await adopt(run, ALLOW)
    const begun = later.session.begin()
    // At its last byte the turn may be over.
    const isOver = begun === undefined && at === said.length - opened
    expect(isOver || begun?.cancelling === false, `killed at ${at}`).toBe(true)
    await begun?.done
    await later.session.caughtUp
    expect(story(joined(run.log, later)), `killed at ${at}`).toEqual(reported)
    expect([run.agent.answersTo('ask1'), run.agent.answersTo('write1')], `killed at ${at}`).toEqual([1, 1])
    const { acknowledged } = isOver ? run.controller : later.controller
    await expect.poll(() => acknowledged.length, { interval: 1 }).toBeGreaterThan(0)
    expect(later.controller.faults).toEqual([])
  }
})

/** The host is gone, with all that it has not stored. */
function kill({ controller, host }: Pick<Running, 'controller' | 'host'>): void {
  controller.kill()
  host.isKilled = true
}

function cleaned(): void {
  onTestFinished(() => rm(folder, { recursive: true, force: true }).then(() => void (folder = '')))
}

test('16.a3 a prompt that was not written is not a turn: the next host sends it', async () => {
  cleaned()
  const run = await running()
  run.controller.kill()
  void run.session.send(PROMPT)
  await quiet()
  const later = await adopt(run, ALLOW)
  expect(later.session.begin()).toBeUndefined()
  await later.session.send(PROMPT)
  expect(later.host.emitted.at(-1)).toEqual({ type: 'turn-end', reason: 'end_turn' })
  const prompts = run.agent.received.filter(({ method }) => method === 'session/prompt')
  expect(prompts).toHaveLength(1)
})

test('16.a3 an answer that was stored and not delivered is delivered once', async () => {
  cleaned()
  const run = await running(ALLOW)
  // The prompt still arrives, and the answer does not.
  run.controller.writable = 1
  void run.session.send(PROMPT)
  await expect.poll(() => [...run.log.asked.values()]).toEqual([ALLOW])
  kill(run)
  const later = await adopt(run)
  const begun = later.session.begin()
  // That of the write is new, and waits.
  await expect.poll(() => later.host.waiting.length).toBe(1)
  expect(run.agent.answersTo('ask1')).toBe(1)
  later.host.waiting[0]?.answer(ALLOW)
  await begun?.done
  expect(run.log.answered).toEqual([])
})

test.each([
  ['with its answers', Infinity],
  ['without the answers to what was pending', 2],
])('16.a3 a cancel that was written %s is not written again, and the turn is cancelled', async (_, writable) => {
  cleaned()
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
  await begun?.done
  expect(story(joined(run.log, later)).at(-1)).toEqual({ type: 'turn-end', reason: 'cancelled' })
  expect(run.agent.received.filter(({ method }) => method === 'session/cancel')).toHaveLength(1)
  expect(run.agent.answersTo('ask1')).toBe(1)
})

test('16.a3 a change of the configuration that was requested is applied once, wherever its host was killed', async () => {
  cleaned()
  const whole = await running()
  const opened = whole.controller.acknowledged.at(-1)?.stdout ?? 0
  await whole.session.configure({ mode: 'code' })
  const reported = story(whole.log.signals)
  expect(reported).toContainEqual({ type: 'config', config: { modeId: 'code' } })
  for (const at of places(whole.agent.said().subarray(opened))) {
    const run = await running()
    run.controller.readable = opened + at
    run.session.configure({ mode: 'code' }).catch(() => {})
    await quiet(4)
    kill(run)
    const later = await adopt(run, ALLOW)
    expect(later.session.begin()).toBeUndefined()
    await later.session.caughtUp
    await quiet(2)
    expect(story(joined(run.log, later)), `killed at ${at}`).toEqual(reported)
    await later.session.configure({ mode: 'ask' })
    const ids = run.agent.received.flatMap(({ id, method }) => (method === undefined ? [] : [id]))
    expect(new Set(ids).size).toBe(ids.length)
  }
})

test('16.a3 two turns, each adopted in its middle, and the numbers of host calls go on', async () => {
  cleaned()
  const run = await running(ALLOW)
  run.controller.readable = (run.controller.acknowledged.at(-1)?.stdout ?? 0) + 700
  void run.session.send(PROMPT)
  await quiet()
  kill(run)
  const second = await adopt(run, ALLOW)
  await second.session.begin()?.done
  await quiet()
  // What the second host emitted is stored now, as its registry would have it.
  run.log.signals.splice(second.session.mark, Infinity, ...second.host.emitted)
  second.controller.readable = (second.controller.acknowledged.at(-1)?.stdout ?? 0) + 700
  void second.session.send(PROMPT)
  await quiet()
  second.controller.kill()
  run.log.signals.splice(second.session.mark, Infinity, ...second.host.emitted)
  second.host.isKilled = true
  const third = await adopt(run, ALLOW)
  await third.session.begin()?.done
  const ends = joined(run.log, third).filter(({ type }) => type === 'turn-end')
  expect(ends).toEqual([
    { type: 'turn-end', reason: 'end_turn' },
    { type: 'turn-end', reason: 'end_turn' },
  ])
  const calls = [...run.log.asked.keys()].map((text) => asRecord(asRecord(JSON.parse(text))['toolCall'])['toolCallId'])
  expect(calls).toEqual(['t1', 'host-1', 't2', 'host-2'])
  expect(await readFile(join(run.folder, 'a.txt'), 'utf8')).toBe('written 2')
})

test.each([
  ['no facts', ''],
  ['facts of another version', '{"version":2,"mark":0,"host":{},"arm":{}}'],
  ['facts of another arm', '{"version":1,"mark":0,"host":{},"arm":{"protocol":"mcp"}}'],
])('16.a3 %s are not adoptable, and the agent is left as it is', async (_, facts) => {
  cleaned()
  const run = await running()
  const before = run.agent.received.length
  const offsets = run.controller.acknowledged.at(-1)
  if (offsets) await run.controller.acknowledge(offsets, facts, false)
  const agent = await run.keeper.adopt('key')
  if (!agent) throw new Error('nothing is kept')
  const adopting = adoptAcp({ ...run.options, agent }, new Host(run.log))
  await expect(adopting).rejects.toMatchObject({ code: 'not_adoptable' })
  expect(run.agent.received).toHaveLength(before)
})

test('16.R2 an agent that has made its host write more than a later one can hold is not taken over', async () => {
  cleaned()
  const { keeper, controller, options, log, host } = await running()
  await controller.write(`${JSON.stringify({ pad: ' '.repeat(128 << 20) })}\n`)
  controller.kill()
  host.isKilled = true
  const agent = await keeper.adopt('key')
  if (!agent) throw new Error('nothing is kept')
  const adopting = adoptAcp({ ...options, agent }, new Host(log))
  await expect(adopting).rejects.toMatchObject({ code: 'not_adoptable', message: expect.stringContaining('134217728') })
})

test('16.a3 a command that runs ends with its host, and its request is answered with that', async () => {
  const methods = ['terminal/create', 'terminal/wait_for_exit']
  const { next, session } = await commandsAdopted(methods, { answer: ALLOW, processes: 2 })
  await session.begin()?.done
  expect(JSON.stringify(next.emitted)).toMatch(/command end(s|ed) with the gateway that ran it/)
})

test('16.a3 a command that was permitted and may have run is not run again', async () => {
  const { next, session, log } = await commandsAdopted(['terminal/create'], { processes: 1 })
  for (const request of log.asked.keys()) log.asked.set(request, ALLOW)
  await session.begin()?.done
  expect(JSON.stringify(next.emitted)).toContain('The command ended with the gateway that ran it')
})

test('16.a3 a command that waits for its permission waits for it under the next host, and runs there', async () => {
  const { next, session, marker } = await commandsAdopted(['terminal/create'], { processes: 1 })
  const goingOn = session.begin()
  await expect.poll(() => next.waiting.length).toBe(1)
  expect(findMarkedProcesses(marker)).toHaveLength(1)
  next.waiting[0]?.answer(ALLOW)
  await goingOn?.done
  expect(joinedText(next.emitted)).toMatch(/"terminalId":"terminal-\w+"/)
  expect(findMarkedProcesses(marker)).toHaveLength(2)
})

/** An agent that has the host run commands, with its next host. @param processes how many of them run when the first is killed */
async function commandsAdopted(
  methods: readonly string[],
  { answer, processes }: { readonly answer?: AgentAnswer; readonly processes: number },
) {
  cleaned()
  folder = await realpath(await mkdtemp(join(tmpdir(), 'acp-adoption-')))
  const keeper = new MemoryKeeper()
  const options = { ...fixture('hosted'), serve: { terminal: true } }
  const { marker } = options.launch
  const log = new Log()
  const host = new Host(log, { answer })
  const connection = await connectAcp({ ...options, keep: { keeper, key: 'key' } })
  onTestFinished(async () => void (await connection.close()))
  const session = await connection.openSession(
    { cwd: folder, additionalDirectories: [], mcpServers: [], origin: { how: 'new' } },
    host,
  )
  const requests = methods.map((method) => ({ method, command: 'sleep', args: ['60'] }))
  void session.send([{ type: 'text', text: JSON.stringify(requests) }])
  await expect.poll(() => log.asked.size).toBe(1)
  await expect.poll(() => findMarkedProcesses(marker).length).toBe(processes)
  const agent = await keeper.adopt('key')
  if (!agent) throw new Error('nothing is kept')
  host.isKilled = true
  const next = new Host(log)
  next.isReplay = true
  const adopted = await adoptAcp({ ...options, launch: { ...options.launch, cwd: folder }, agent }, next)
  onTestFinished(async () => void (await adopted.connection.close()))
  return { next, session: adopted.session, log, marker }
}

const joinedText = (signals: readonly AgentSignal[]): string =>
  signals.map((signal) => (signal.type === 'text-delta' ? signal.text : '')).join('')
