import { type AgentprotoError, isAgentprotoError, type Session } from '@agentproto/contracts'
import type { HookStop } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { scripted, type Script } from '../../session-registry/test/fixtures/scripted-agent.ts'
import { constantFolder, owner as OWNER } from '../../session-registry/test/fixtures/test-registry.ts'
import type { FleetServices } from '../src/services/fleet-services-options.ts'
import { startGateway, type TestGateway } from './support/fleet-gateways.ts'
import { startNats } from './support/nats-servers.ts'
import { testSession } from './support/test-host.ts'

interface TestFleet {
  readonly a: TestGateway
  readonly b: TestGateway
  /** Of host a. */
  readonly session: Session
}

/** Two gateways, and a session of `a` with one turn, which both know. */
async function fleetOfTwo(): Promise<TestFleet> {
  const server = await startNats()
  const workspaces = constantFolder('/tmp', 'work')
  const a = await startGateway(server, 'a', { ...scripted(), workspaces })
  const b = await startGateway(server, 'b', { ...scripted(), workspaces })
  const { id } = await a.services.sessions.spawn({ adapter: 'fake', label: 'one' }, OWNER)
  await a.services.sessions.prompt(id, { prompt: 'hello' }, OWNER)
  await a.services.sessions.waitTurn(id, 1)
  // The record is written some times a second: its last state takes a moment.
  await expect.poll(async () => isSame(b.view.session(id)?.session, await a.registry.get(id))).toBe(true)
  return { a, b, session: await a.services.sessions.get(id) }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Waits until the copy of a host has a session. */
async function known(gateway: TestGateway, id: string): Promise<void> {
  await expect.poll(() => gateway.view.session(id) !== undefined).toBe(true)
}

/** What a call answers, or the problem document that it fails with. */
async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call()
  } catch (thrown) {
    if (isAgentprotoError(thrown)) return { problem: thrown.toProblem(), message: thrown.message }
    throw thrown
  }
}

async function read(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  const all: string[] = []
  for await (const piece of pieces) all.push(Buffer.from(piece as string).toString())
  return all.join('').replace(/"exportedAt":"[^"]*"|\| Exported \| [^|]*/, '')
}

type Reads = (services: FleetServices, id: string) => Promise<unknown>
const READS: Readonly<Record<string, Reads>> = {
  get: ({ sessions }, id) => sessions.get(id),
  'get within bounds': ({ sessions }, id) => sessions.get(id, { workspaces: ['work'], folders: { work: '/tmp' } }),
  'get outside of the workspaces': ({ sessions }, id) => sessions.get(id, { workspaces: ['other'] }),
  'get in another folder of that slug': ({ sessions }, id) =>
    sessions.get(id, { workspaces: ['work'], folders: { work: '/srv' } }),
  'get of an agent': ({ sessions }, id) => sessions.get(id, { under: 's_other', itself: true }),
  'get of an unknown one': ({ sessions }) => sessions.get('s_unknown0'),
  waitTurn: ({ sessions }, id) => sessions.waitTurn(id, 1),
  'waitTurn of none': ({ sessions }, id) => sessions.waitTurn(id, 7),
  turns: ({ sessions }, id) => sessions.turns(id),
  'turns after 1': ({ sessions }, id) => sessions.turns(id, { after: 1, limit: 3 }),
  turn: ({ sessions }, id) => sessions.turn(id, 1),
  output: ({ sessions }, id) => sessions.output(id),
  'output of 1': ({ sessions }, id) => sessions.output(id, 1),
  events: ({ sessions }, id) => sessions.events(id, 0, 1_000),
  'events after 3': ({ sessions }, id) => sessions.events(id, 3, 2),
  follow: async ({ sessions }, id) => {
    const reader = await sessions.follow(id, 0)
    const batch = await reader.next()
    reader.close()
    return batch
  },
  followOutput: async ({ sessions }, id) => {
    const reader = await sessions.followOutput(id)
    const items = await reader.next()
    reader.close()
    return items
  },
  'follow of an unknown one': ({ sessions }) => sessions.follow('s_unknown0', 0),
  requests: ({ sessions }, id) => sessions.requests(id),
  waiting: ({ sessions }) => sessions.waiting(),
  'waiting with a wrong cursor': ({ sessions }) => sessions.waiting({ after: 'x' }),
  list: ({ sessions }) => sessions.list(),
  'list of a host': ({ sessions }) => sessions.list({ host: 'a' }),
  'list of another host': ({ sessions }) => sessions.list({ host: 'b' }),
  'list of a label': ({ sessions }) => sessions.list({ label: 'one', onlyAlive: true }),
  'list of nothing': ({ sessions }) => sessions.list({ q: 'nothing' }, { workspaces: ['work'] }),
  'list within bounds': ({ sessions }) => sessions.list({}, { workspaces: ['work'], folders: { work: '/tmp' } }),
  'list outside of bounds': ({ sessions }) => sessions.list({}, { workspaces: ['work'], folders: { work: '/srv' } }),
  'list with a wrong cursor': ({ sessions }) => sessions.list({ after: '?' }),
  rules: ({ permissions }, id) => permissions.rules({ sessionId: id }),
  'rules of an unknown one': ({ permissions }) => permissions.rules({ sessionId: 's_unknown0' }),
  allRules: ({ permissions }) => permissions.allRules([]),
  search: ({ archive }) => archive.search({ q: 'echo' }),
  'search outside of bounds': ({ archive }) => archive.search({ q: 'echo' }, { workspaces: ['other'] }),
  export: async ({ archive }, id) => read(await archive.export(id, 'jsonl')),
  'export as text': async ({ archive }, id) => read(await archive.export(id, 'md')),
  'export of an unknown one': ({ archive }) => archive.export('s_unknown0', 'md'),
  repair: ({ archive }, id) => archive.repair(id, { dryRun: true }, OWNER),
  report: ({ usage }) => usage.report({ by: 'session' }),
  'report of too many days': ({ usage }) => usage.report({ from: '2020-01-01', to: '2026-01-01' }),
  changes: ({ changes }, id) => changes.list(id),
  diff: async ({ changes }, id) => read(await changes.diff(id)),
}

test('17.2 every read of a session answers the same on another host, errors too', needs('nats-server'), async () => {
  const { a, b, session } = await fleetOfTwo()
  const differing: string[] = []
  for (const [name, call] of Object.entries(READS)) {
    const here = await outcome(() => call(a.services, session.id))
    const there = await outcome(() => call(b.services, session.id))
    if (JSON.stringify(here) !== JSON.stringify(there)) differing.push(`${name}: ${JSON.stringify([here, there])}`)
  }
  expect(differing).toEqual([])
  expect(b.problems).toEqual([])
})

type Acts = (services: FleetServices, id: string) => Promise<unknown>
const ACTS: Readonly<Record<string, Acts>> = {
  prompt: async ({ sessions }, id) => {
    const { turn } = await sessions.prompt(id, { prompt: 'again' }, OWNER)
    return (await sessions.waitTurn(id, turn)).text
  },
  rename: async ({ sessions }, id) => (await sessions.rename(id, { title: 'named' }, OWNER)).title,
  configure: async ({ sessions }, id) =>
    (await sessions.configure(id, { permissionMode: 'deny-all' }, OWNER)).permissionMode,
  'configure what there is not': async ({ sessions }, id) =>
    (await sessions.configure(id, { mode: 'none' }, OWNER)).config,
  interrupt: ({ sessions }, id) => sessions.interrupt(id, OWNER),
  'interrupt of a turn': ({ sessions }, id) => sessions.interrupt(id, OWNER, { turn: 1 }),
  answer: ({ sessions }, id) =>
    sessions.answer({ id, requestId: 'none' }, { outcome: 'selected', optionId: 'allow' }, OWNER),
  resume: ({ sessions }, id) => sessions.resume(id, {}, OWNER),
  fork: ({ sessions }, id) => sessions.fork(id, {}, OWNER),
  addRule: async ({ permissions }, id) =>
    (await permissions.addRule({ sessionId: id }, { decision: 'allow', command: 'git log **' }, OWNER)).match,
  removeRule: ({ permissions }, id) => permissions.removeRule({ sessionId: id }, 'none', OWNER),
  merge: ({ worktrees }, id) => worktrees.merge(id, {}, OWNER),
  discard: ({ worktrees }, id) => worktrees.discard(id, {}, OWNER),
  markReviewed: ({ changes }, id) => changes.markReviewed(id, {}, OWNER),
  rewind: ({ changes }, id) => changes.rewind(id, { turn: 0 }, OWNER),
  'repair of a live one': ({ archive }, id) => archive.repair(id, { dryRun: false }, OWNER),
  kill: ({ sessions }, id) => sessions.kill(id, OWNER, 'user_canceled'),
  'kill again': ({ sessions }, id) => sessions.kill(id, OWNER),
  'prompt of an ended one': ({ sessions }, id) => sessions.prompt(id, { prompt: 'x' }, OWNER),
  prune: async ({ sessions, archive }, id) => {
    const { killedAt, endedAt, lastActiveAt } = await sessions.get(id)
    // One that has ended in this millisecond is not older than 0 ms.
    await expect
      .poll(() => Date.now(), { interval: 1 })
      .toBeGreaterThan(Date.parse(killedAt ?? endedAt ?? lastActiveAt))
    return (await archive.prune({ olderThanMs: 0, dryRun: true }, OWNER)).pruned.length
  },
  forget: ({ sessions }, id) => sessions.forget(id, OWNER),
  'forget again': async ({ sessions }, id) => {
    const { code } = await sessions.forget(id, OWNER).then(
      () => ({ code: 'none' }),
      (thrown: AgentprotoError) => thrown,
    )
    return code
  },
}

test('17.2 every change of a session does the same from another host', needs('nats-server'), async () => {
  const server = await startNats()
  const results: unknown[][] = []
  for (const [owner, other] of [
    ['a1', 'b1'],
    ['a2', 'b2'],
  ] as const) {
    const of = await startGateway(server, owner, scripted())
    const from = await startGateway(server, other, scripted())
    const { id } = await of.services.sessions.spawn({ adapter: 'fake', label: 'x' }, OWNER)
    await known(from, id)
    const through = results.length === 0 ? of : from
    const outcomes: unknown[] = []
    for (const [name, call] of Object.entries(ACTS)) {
      const json = JSON.stringify(await outcome(() => call(through.services, id)))
      outcomes.push([name, json?.replaceAll(id, 'ID')])
    }
    results.push(outcomes)
  }
  expect(results[1]).toEqual(results[0])
})

test('17.2 a hook ends sessions of its own host, and none of another one', needs('nats-server'), async () => {
  const { a, b, session } = await fleetOfTwo()
  await known(b, session.id)
  const stop: HookStop = { hook: { kind: 'permission_failure', summary: 'A hook says so' } }
  await expect(b.services.sessions.kill(session.id, OWNER, stop)).rejects.toMatchObject({ code: 'forbidden' })
  expect((await a.services.sessions.get(session.id)).status).toBe('running')
  expect(await a.services.sessions.kill(session.id, OWNER, stop)).toEqual({ ok: true })
})

test('17.5 a start is placed on another host, and its session can be used at once', needs('nats-server'), async () => {
  const server = await startNats()
  await startGateway(server, 'a', scripted())
  const b = await startGateway(server, 'b', { ...scripted(), place: async () => 'a' })
  const session = await b.services.sessions.spawn({ adapter: 'fake' }, OWNER)
  expect(session.hostId).toBe('a')
  expect(await b.services.sessions.prompt(session.id, { prompt: 'x' }, OWNER)).toEqual({ turn: 1 })
  expect((await b.services.sessions.get(session.id)).hostId).toBe('a')
})

test('17.2 the list has the sessions of all hosts, newest first, page by page', needs('nats-server'), async () => {
  const server = await startNats()
  const [a, b] = [await startGateway(server, 'a', scripted()), await startGateway(server, 'b', scripted())]
  const hosts = [a, b]
  const ids: string[] = []
  for (const { services } of [a, b, a, b, a, b, a, b, a, b, a])
    ids.push((await services.sessions.spawn({ adapter: 'fake' }, OWNER)).id)
  for (const host of hosts) for (const id of ids) await known(host, id)
  for (const { services } of hosts) {
    const listed: string[] = []
    let after: string | undefined
    do {
      const page = await services.sessions.list({ limit: 3, ...(after !== undefined && { after }) })
      listed.push(...page.sessions.map(({ id }) => id))
      after = page.nextCursor
    } while (after !== undefined)
    expect(new Set(listed)).toEqual(new Set(ids))
    expect(listed).toHaveLength(11)
  }
  const [first, second] = await Promise.all(hosts.map(({ services }) => services.sessions.list({ limit: 5 })))
  expect(second?.sessions.map(({ id }) => id)).toEqual(first?.sessions.map(({ id }) => id))
  expect(second?.nextCursor).toBe(first?.nextCursor)
})

test('17.2 a watcher sees changes of all hosts, within its bounds', needs('nats-server'), async () => {
  const { a, b, session } = await fleetOfTwo()
  const all = b.services.sessions.watch()
  const none = b.services.sessions.watch({ workspaces: ['other'] })
  const { id: own } = await b.services.sessions.spawn({ adapter: 'fake' }, OWNER)
  await a.services.sessions.rename(session.id, { title: 'renamed' }, OWNER)
  const titles = new Map<string, string | undefined>()
  while (titles.get(session.id) !== 'renamed' || !titles.has(own))
    for (const change of (await all.next()) ?? [])
      if (change.type === 'session') titles.set(change.session.id, change.session.title)
  await a.services.sessions.forget(session.id, OWNER)
  const forgotten: string[] = []
  while (!forgotten.includes(session.id))
    for (const change of (await all.next()) ?? []) if (change.type === 'forgotten') forgotten.push(change.id)
  const seen = none.next()
  none.close()
  all.close()
  expect(await seen).toBeUndefined()
  expect(await all.next()).toBeUndefined()
})

test('17.2 what waits for a person is listed of all hosts, oldest first', needs('nats-server'), async () => {
  const asking: Script = async ({ ask, emit }) => {
    const toolCall = {
      type: 'tool-call',
      toolCallId: 't',
      title: 'x',
      kind: 'execute',
      input: { command: 'x' },
    } as const
    await ask({ kind: 'permission', toolCall, options: [{ optionId: 'allow', name: 'Allow', kind: 'allow_once' }] })
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const server = await startNats()
  const [a, b] = [await startGateway(server, 'a', scripted(asking)), await startGateway(server, 'b', scripted(asking))]
  const ids: string[] = []
  for (const { services } of [a, b, a, b, a]) {
    const { id } = await services.sessions.spawn({ adapter: 'fake', prompt: 'x' }, OWNER)
    await expect.poll(async () => (await services.sessions.requests(id)).length).toBe(1)
    for (const host of [a, b]) await known(host, id)
    ids.push(id)
  }
  const listed: string[] = []
  let after: string | undefined
  do {
    const page = await b.services.sessions.waiting({ limit: 2, ...(after !== undefined && { after }) })
    listed.push(...page.requests.map(({ sessionId }) => sessionId))
    after = page.nextCursor
  } while (after !== undefined)
  expect(listed).toEqual(ids)
  const [id = ''] = ids
  const [request] = await b.services.sessions.requests(id)
  const which = { id, requestId: request?.requestId ?? '' }
  const answered = await b.services.sessions.answer(which, { outcome: 'selected', optionId: 'allow' }, OWNER)
  expect(answered).toMatchObject({ state: 'resolved' })
})

test('17.2 a search on all hosts finds each hit once, page by page', needs('nats-server'), async () => {
  const { a, b } = await fleetOfTwo()
  for (const { services } of [a, b, a, b]) {
    const { id } = await services.sessions.spawn({ adapter: 'fake' }, OWNER)
    await services.sessions.prompt(id, { prompt: 'needle' }, OWNER)
    await services.sessions.waitTurn(id, 1)
    await known(b, id)
  }
  const hits: string[] = []
  let after: string | undefined
  do {
    const page = await b.services.archive.search({ q: 'needle', limit: 2, ...(after !== undefined && { after }) })
    expect(page.hits.length).toBeLessThanOrEqual(2)
    hits.push(...page.hits.map(({ sessionId, seq }) => `${sessionId} ${seq}`))
    after = page.nextCursor
  } while (after !== undefined)
  // The prompt and its echo.
  expect(hits).toHaveLength(8)
  expect(new Set(hits).size).toBe(8)
  const { total } = await b.services.usage.report({ by: 'session' })
  expect(total.turns).toBe(5)
})

test(
  '17.6 of a host that is gone the record and the whole log stay readable, and it is said to be unreachable',
  needs('nats-server'),
  async () => {
    const { a, b, session } = await fleetOfTwo()
    const reader = await b.services.sessions.follow(session.id, 0)
    const seen: number[] = []
    const take = async (): Promise<void> =>
      void seen.push(...((await reader.next())?.records.map(({ seq }) => seq) ?? []))
    while (seen.length < session.lastSeq) await take()
    await expect.poll(() => a.publisher.lag).toBe(0)
    await a.crash()
    await expect.poll(() => b.view.isReachable('a')).toBe(false)
    expect(await b.services.sessions.get(session.id)).toMatchObject({
      state: 'unreachable',
      hostId: 'a',
      attachable: false,
    })
    expect((await b.services.sessions.list({ state: 'unreachable' })).sessions).toHaveLength(1)
    expect((await b.services.sessions.list()).sessions).toMatchObject([{ id: session.id, state: 'unreachable' }])
    const local = await a.registry.events(session.id, 0, 1_000)
    expect(await b.services.sessions.events(session.id, 0, 1_000)).toEqual(local)
    await expect(b.services.sessions.prompt(session.id, { prompt: 'x' }, OWNER)).rejects.toMatchObject({
      code: 'host_unreachable',
      row: { status: 503, retryable: true },
      parts: { data: { host: 'a', retryAfter: 5 } },
    })
    const asked = await b.services.sessions.waiting()
    expect(asked.unanswered).toMatchObject([{ host: 'a', problem: expect.stringContaining('host_unreachable') }])
    expect((await b.services.archive.search({ q: 'x' })).unanswered).toHaveLength(1)
    expect((await b.services.usage.report()).unanswered).toHaveLength(1)
    expect((await b.services.permissions.allRules([])).unanswered).toHaveLength(1)
    const leaving = new AbortController()
    const next = reader.next(leaving.signal)
    leaving.abort()
    expect(await next).toBeUndefined()
    expect(seen).toEqual(local.records.map(({ seq }) => seq))
    reader.close()
  },
)

test(
  '17.7 a call that another host has not begun ends with the token of its caller',
  needs('nats-server'),
  async () => {
    const server = await startNats()
    const a = await startGateway(server, 'a', scripted())
    const ended = new AbortController()
    const b = await startGateway(server, 'b', { ...scripted(), endOf: () => ended.signal })
    const { id } = await a.services.sessions.spawn({ adapter: 'fake' }, OWNER)
    await known(b, id)
    await a.crash()
    const prompted = b.services.sessions.prompt(id, { prompt: 'x' }, OWNER)
    ended.abort()
    await expect(prompted).rejects.toMatchObject({ code: 'unauthorized' })
    await expect(b.services.sessions.kill(id, OWNER)).rejects.toMatchObject({ code: 'unauthorized' })
  },
)

test('17.8 a fleet of one answers as no fleet', needs('nats-server'), async () => {
  const server = await startNats()
  const a = await startGateway(server, 'a', scripted())
  const { id } = await a.services.sessions.spawn({ adapter: 'fake' }, OWNER)
  await a.services.sessions.prompt(id, { prompt: 'x' }, OWNER)
  await a.services.sessions.waitTurn(id, 1)
  const own: FleetServices = {
    sessions: a.registry,
    permissions: a.registry.permissions,
    archive: a.registry.archive,
    usage: a.registry.usage,
    worktrees: a.registry.worktrees,
    changes: a.registry.changes,
    hostOf: () => undefined,
  }
  for (const [name, call] of Object.entries(READS)) {
    const alone = JSON.stringify(await outcome(() => call(own, id)))
    expect(JSON.stringify(await outcome(() => call(a.services, id))), name).toBe(alone)
  }
})

test(
  '17.6 a session that was taken from a lost host and is not whole here yet is unreachable, on every host',
  needs('nats-server'),
  async () => {
    const { a, b, session } = await fleetOfTwo()
    const arriving = { state: 'unreachable', hostId: 'a', movedFrom: 'c', onHostLoss: 'move' } as const
    await a.sessions.claim(testSession('s_arriving', arriving))
    await known(b, 's_arriving')
    for (const { services } of [a, b]) {
      expect(await services.sessions.get('s_arriving')).toMatchObject(arriving)
      const { sessions } = await services.sessions.list()
      expect(sessions.map(({ id }) => id).toSorted()).toEqual(['s_arriving', session.id].toSorted())
      await expect(services.sessions.get('s_arriving', { workspaces: ['other'] })).rejects.toMatchObject({
        code: 'session_not_found',
      })
    }
  },
)
