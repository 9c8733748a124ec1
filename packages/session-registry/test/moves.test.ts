import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError, type Session, type SessionEvent, type WorkspaceResolver } from '@agentproto/contracts'
import {
  type AdapterCatalog,
  type AdapterSummary,
  type AgentGuard,
  type EventBatch,
  type EventRecord,
  homeLayout,
  type LostSession,
} from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import type { SessionRegistry } from '@agentproto/session-registry'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { NONE, scripted, type Script } from './fixtures/scripted-agent.js'
import {
  allEvents,
  catalogOf,
  drain,
  fileRegistry,
  fileStores,
  memoryRegistry,
  owner,
  temporaryHome,
  types,
} from './fixtures/test-registry.js'

/** The agent of the test: another host can continue its sessions. */
const movable = (facts: Partial<AdapterSummary> = {}): AdapterCatalog =>
  catalogOf({
    session: { mode: 'resumable', continuation: ['pinned-session', 'native-resume', 'transcript'] },
    ...facts,
  })

/** Only its named workspaces. */
const workspacesOf = (folders: Readonly<Record<string, string>>): WorkspaceResolver => ({
  resolve: ({ workspaceSlug = 'app', cwd }) => {
    const path = folders[workspaceSlug]
    if (cwd !== undefined) {
      const slug = Object.keys(folders).find((each) => cwd.startsWith(folders[each] ?? ' '))
      return Promise.resolve({ cwd, workspaceSlug: slug ?? 'default', warnings: [] })
    }
    if (path === undefined)
      return Promise.reject(new AgentprotoError('workspace_not_found', 'There is no such workspace'))
    return Promise.resolve({ cwd: path, workspaceSlug, warnings: [] })
  },
  enclosing: (folder) =>
    Promise.resolve(
      Object.entries(folders).flatMap(([slug, path]) => (folder.startsWith(path) ? [{ slug, path }] : [])),
    ),
})

const talk: Script = async ({ text, emit, ask }) => {
  await emit({ type: 'text-delta', text: `About ${text}. ` }, { type: 'tool-call', toolCallId: 't', title: 'Read' })
  if (text.endsWith('ask')) await ask({ kind: 'question', message: '?', mode: 'form' })
  if (text.endsWith('hang')) await new Promise(() => undefined)
  await emit({ type: 'tool-result', toolCallId: 't', status: 'completed', output: 'x' })
  await emit({ type: 'turn-end', reason: 'end_turn' })
}

interface HostParts {
  readonly hostId: string
  readonly agent?: Partial<AdapterSummary>
  readonly slug?: string
}

/** A host with a home and a workspace folder of its own. */
async function host({ hostId, agent, slug = 'app' }: HostParts) {
  const home = await temporaryHome()
  const folder = join(home, 'work')
  await mkdir(folder)
  const prompts: string[] = []
  const agents = scripted((turn) => {
    prompts.push(turn.text)
    return talk(turn)
  })
  const options = {
    ...agents,
    hostId,
    adapters: movable(agent),
    workspaces: workspacesOf({ [slug]: folder }),
  }
  const registry = await fileRegistry(home, options)
  return { home, folder, agents, prompts, registry, options }
}

const start = (registry: SessionRegistry, prompt?: string): Promise<Session> =>
  registry.spawn({ adapter: 'fake', workspaceSlug: 'app', onHostLoss: 'move', ...(prompt && { prompt }) }, owner)

async function recordsOf(registry: SessionRegistry, id: string): Promise<EventRecord[]> {
  const records: EventRecord[] = []
  for (;;) {
    const batch = await registry.events(id, records.length, 1_000)
    if (batch.records.length === 0) return records
    records.push(...batch.records)
  }
}

async function* batches(...all: readonly EventBatch[]): AsyncGenerator<EventBatch> {
  yield* all
}

/** What others know of a session of a host that is lost now. */
async function lost(registry: SessionRegistry, id: string, cut = Infinity): Promise<LostSession> {
  const records = (await recordsOf(registry, id)).slice(0, cut)
  const session = await registry.get(id)
  const lastSeq = Math.min(session.lastSeq, records.length)
  return {
    session: { ...session, lastSeq },
    settings: registry.moves.settingsOf(id),
    from: 'a',
    events: batches({ records }),
  }
}

test('17.6 a session of a lost host goes on elsewhere under its id, in the folder of its workspace there, with the transcript', async () => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  await a.registry.prompt(id, { prompt: 'dogs hang' }, owner)
  await settled()
  const before = await recordsOf(a.registry, id)
  const watcher = b.registry.watch()
  const session = await b.registry.moves.takeOver(await lost(a.registry, id))
  expect(session).toMatchObject({
    id,
    hostId: 'b',
    movedFrom: 'a',
    onHostLoss: 'move',
    cwd: b.folder,
    workspaceSlug: 'app',
    state: 'asleep',
    wakeable: true,
    turnCount: 2,
  })
  expect(session.agentSessionId).toBeUndefined()
  expect((await watcher.next())?.[0]).toMatchObject({ type: 'session', session: { id } })
  const taken = await recordsOf(b.registry, id)
  expect(taken.slice(0, before.length)).toEqual(before)
  const events = await allEvents(b.registry, id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  expect(types(events).slice(before.length)).toEqual([
    'tool-result',
    'error',
    'turn-end',
    'repair',
    'status',
    'session-stopped',
  ])
  expect(events.find(({ type }) => type === 'repair')).toMatchObject({
    detail: 'The host a was lost; b continues the session',
  })
  expect(await b.registry.waitTurn(id, 2)).toMatchObject({ reason: 'error' })
  await b.registry.prompt(id, { prompt: 'birds' }, owner)
  await b.registry.waitTurn(id, 3)
  expect(await b.registry.get(id)).toMatchObject({ status: 'running', resumedHow: 'transcript', turnCount: 3 })
  const agent = b.agents.agents[0]
  expect(agent?.options.cwd).toBe(b.folder)
  expect(b.prompts[0]).toMatch(/cats[\s\S]*dogs hang[\s\S]*birds/)
})

test('17.6 wherever the log of a lost host is cut off, the session can be prompted and no number is used twice', async () => {
  const a = await host({ hostId: 'a' })
  const { id } = await start(a.registry, 'one')
  await a.registry.waitTurn(id, 1)
  await a.registry.prompt(id, { prompt: 'two ask' }, owner)
  await settled()
  const [request] = await a.registry.requests(id)
  await a.registry.answer({ id, requestId: request?.requestId ?? '' }, { outcome: 'decline' }, owner)
  await a.registry.waitTurn(id, 2)
  await a.registry.prompt(id, { prompt: 'three ask' }, owner)
  await settled()
  await a.registry.prompt(id, { prompt: 'four', whenBusy: 'queue' }, owner)
  const whole = await recordsOf(a.registry, id)
  const record = await a.registry.get(id)
  const settings = a.registry.moves.settingsOf(id)
  const b = await host({ hostId: 'b' })
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length),
      fc.boolean(),
      fc.nat(whole.length),
      fc.integer({ min: 1, max: 7 }),
      async (cut, isBehind, hole, size) => {
        const records = whole.slice(0, cut)
        // The record may be as old as the log that is left, or say that there was more.
        const session = isBehind ? record : { ...record, lastSeq: cut, turnCount: 0 }
        const given = chunked(records, { hole, size })
        await b.registry.moves.takeOver({ session, settings, from: 'a', events: batches(...given) })
        const taken = await b.registry.get(id)
        expect(taken).toMatchObject({ state: 'asleep', wakeable: true, pendingRequests: 0, movedFrom: 'a' })
        expect(taken.lastSeq).toBeGreaterThan(isBehind ? record.lastSeq : cut)
        const { turn } = await b.registry.prompt(id, { prompt: 'again' }, owner)
        expect(await b.registry.waitTurn(id, turn)).toMatchObject({ reason: 'end_turn' })
        await b.registry.kill(id, owner)
        const events = await readWhole(b.registry, id)
        expect(events.seqs).toEqual([...new Set(events.seqs)].toSorted((x, y) => x - y))
        expect(events.accounted).toBe((await b.registry.get(id)).lastSeq)
        const kept = events.all.filter(({ seq }) => seq <= cut)
        expect(kept.map((event) => JSON.stringify(event))).toEqual(
          records.filter(({ seq }) => seq !== hole).map(({ json }) => json),
        )
        const report = await b.registry.archive.repair(id, { dryRun: true }, owner)
        expect(hole === 0 && !isBehind ? report.findings : []).toEqual([])
        await b.registry.forget(id, owner)
      },
    ),
    { numRuns: 60, seed: Number(process.env['SEED'] ?? 17), endOnFailure: true },
  )
})

/** Batches of a size; one event may be lost, unless it is the last. */
function chunked(records: readonly EventRecord[], { hole, size }: { hole: number; size: number }): EventBatch[] {
  const all: EventBatch[] = []
  let after = 0
  for (let at = 0; at < records.length; at += size) {
    const chunk = records.slice(at, at + size)
    const [before, behind] = [chunk.filter(({ seq }) => seq < hole), chunk.filter(({ seq }) => seq > hole)]
    for (const part of [before, behind]) {
      const [first] = part
      if (first === undefined) continue
      all.push({ records: part, ...(first.seq > after + 1 ? { gap: { after, first: first.seq } } : {}) })
      after = part.at(-1)?.seq ?? after
    }
  }
  const last = records.at(-1)?.seq ?? 0
  return last > after ? [...all, { records: [], gap: { after, first: last + 1 } }] : all
}

/** All that can be read, and up to which number the log accounts for. */
async function readWhole(registry: SessionRegistry, id: string) {
  const all: SessionEvent[] = []
  let accounted = 0
  for (const { records, gap } of await drain(await registry.follow(id, 0))) {
    expect(gap?.after ?? accounted).toBe(accounted)
    accounted = (gap?.first ?? accounted + 1) - 1
    for (const record of records) {
      expect(record.seq).toBe(accounted + 1)
      accounted = record.seq
      all.push(JSON.parse(record.json) as SessionEvent)
    }
  }
  return { all, seqs: all.map(({ seq }) => seq), accounted }
}

test('17.6 what is told of a move: queued prompts that were not sent, lost events, and settings that stayed', async () => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const mcpServers = [{ name: 'm', command: '/bin/m', args: [], env: [{ name: 'KEY', value: 'secret' }] }]
  const { id } = await a.registry.spawn(
    {
      adapter: 'fake',
      workspaceSlug: 'app',
      onHostLoss: 'move',
      mcpServers,
      mode: 'plan',
      instructions: 'Be brief',
      prompt: 'one ask',
    },
    owner,
  )
  await settled()
  await a.registry.prompt(id, { prompt: 'two', whenBusy: 'queue' }, owner)
  const what = await lost(a.registry, id)
  expect(JSON.stringify(what)).not.toContain('secret')
  const session = await b.registry.moves.takeOver({
    ...what,
    session: { ...what.session, lastSeq: what.session.lastSeq + 3 },
  })
  const [other, again] = [await host({ hostId: 'c' }), await lost(a.registry, id)]
  const reserved = await other.registry.moves.takeOver({ ...again, lastSeq: again.session.lastSeq + 2 })
  expect(reserved.warnings[0]).toBe('2 of its events are lost')
  expect(session.warnings).toEqual([
    '3 of its events are lost',
    '1 queued prompt(s) were not sent: their text stayed on a',
    '1 MCP server(s) of its start stayed on a: they may hold secrets',
  ])
  expect(await b.registry.requests(id)).toMatchObject([{ state: 'interrupted' }])
  await b.registry.prompt(id, { prompt: 'go' }, owner)
  expect(b.agents.agents[0]?.options).toMatchObject({ mode: 'plan', mcpServers: [] })
  expect(b.prompts[0]).toContain('Be brief')
  const unknown = await host({ hostId: 'c' })
  const { settings: _, ...bare } = await lost(a.registry, id)
  expect((await unknown.registry.moves.takeOver(bare)).warnings).toContain(
    'The mode, options and instructions of its start are not known here',
  )
})

test.each<[string, Omit<HostParts, 'hostId'>, string]>([
  ['no adapter', { agent: { installed: false } }, 'agent_not_installed'],
  [
    'an agent that takes no transcript',
    { agent: { session: { mode: 'resumable', continuation: ['none'] } } },
    'continuation_unsupported',
  ],
  ['no workspace of that name', { slug: 'other' }, 'workspace_not_found'],
])('17.6 a host with %s refuses to take a session up, and nothing is left of it', async (_what, parts, code) => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b', ...parts })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  await expect(b.registry.moves.takeOver(await lost(a.registry, id))).rejects.toMatchObject({ code })
  await expect(b.registry.get(id)).rejects.toMatchObject({ code: 'session_not_found' })
  expect(await readdir(homeLayout(b.home).sessions)).toEqual([])
})

const changed =
  (seq: number, change: (event: SessionEvent) => object): ((records: EventRecord[]) => EventRecord[]) =>
  (records) =>
    records.map((record) =>
      record.seq === seq
        ? { ...record, json: JSON.stringify({ ...change(JSON.parse(record.json) as SessionEvent) }) }
        : record,
    )

test.each<[string, (records: EventRecord[]) => EventRecord[]]>([
  ['an event twice', (records) => [...records.slice(0, 3), ...records.slice(2)]],
  ['a hole that is not told', (records) => records.filter(({ seq }) => seq !== 3)],
  ['events in another order', (records) => [...records.slice(0, 2), ...records.slice(2).toReversed()]],
  ['an event of another session', changed(3, (event) => ({ ...event, sessionId: 's_00000009' }))],
  ['an unknown event', changed(3, (event) => ({ ...event, type: 'surprise' }))],
  ['an event of another turn', changed(4, (event) => ({ ...event, turn: 7 }))],
  ['a number that its head does not have', changed(3, ({ type, ...event }) => ({ type, ...event }))],
  ['no JSON', (records) => records.map((record) => ({ ...record, json: `${record.json}}` }))],
  [
    'a line break in an event',
    (records) => records.map((record) => ({ ...record, json: record.json.replace(',', ',\n') })),
  ],
  [
    'a head that says another type',
    (records) =>
      records.map((record) => ({
        ...record,
        json: record.json.replace('"type":', '"type":"title","title":"x","type":'),
      })),
  ],
])('17.6 a log with %s is refused, and nothing is left of it', async (_what, spoil) => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  const what = await lost(a.registry, id)
  const events = batches({ records: spoil(await recordsOf(a.registry, id)) })
  await expect(b.registry.moves.takeOver({ ...what, events })).rejects.toMatchObject({ code: 'invalid_request' })
  expect(await readdir(homeLayout(b.home).sessions)).toEqual([])
  expect((await b.registry.list()).sessions).toEqual([])
  expect(await b.registry.moves.takeOver(await lost(a.registry, id))).toMatchObject({ id, hostId: 'b' })
})

test.each<[string, Partial<Record<keyof Session, unknown>>]>([
  ['a path for an id', { id: '../../x' }],
  ['the policy to wait', { onHostLoss: undefined }],
  ['a parent', { parentSessionId: 's_parent000' }],
  ['no workspace', { workspaceSlug: 'default' }],
  ['a permission mode that is none', { permissionMode: 'everything' }],
  ['a budget that cannot be read', { budget: { turns: 'many' } }],
  ['an end of its time that cannot be read', { expiresAt: 'later' }],
  ['a grant that cannot be read', { delegation: { maxDepth: 99 } }],
])('17.6 a record with %s is refused', async (_what, change) => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  const what = await lost(a.registry, id)
  const session = { ...what.session, ...change } as Session
  await expect(b.registry.moves.takeOver({ ...what, session })).rejects.toBeInstanceOf(AgentprotoError)
  expect(await readdir(homeLayout(b.home).sessions)).toEqual([])
})

test('17.6 no path of the lost host is used: not its folder, nor folders beside it, nor those of a worktree', async () => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  const what = await lost(a.registry, id)
  const spoilt = {
    cwd: '/etc',
    additionalDirectories: ['/root'],
    agentSessionId: '--evil',
    agent: { capabilities: { ...NONE, load: true } },
  }
  await b.registry.moves.takeOver({ ...what, session: { ...what.session, ...spoilt } })
  await b.registry.prompt(id, { prompt: 'x' }, owner)
  expect(b.agents.agents[0]?.options).toMatchObject({
    cwd: b.folder,
    additionalDirectories: [],
    origin: { how: 'new' },
  })
})

test('17.6 a host that is killed while it takes a session up finds nothing of it at its next start', async () => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  const records = await recordsOf(a.registry, id)
  async function* cut(): AsyncGenerator<EventBatch> {
    yield { records: records.slice(0, 3) }
    // Its host is gone now.
    await new Promise(() => undefined)
  }
  void b.registry.moves.takeOver({ ...(await lost(a.registry, id)), events: cut() })
  await expect.poll(() => readdir(homeLayout(b.home).sessions)).toEqual([id])
  const problems: string[] = []
  const again = await fileRegistry(b.home, {
    ...b.options,
    ...fileStores(b.home),
    onProblem: (text) => void problems.push(text),
  })
  expect((await again.list()).sessions).toEqual([])
  expect(await readdir(homeLayout(b.home).sessions)).toEqual([])
  expect(problems).toEqual([`The take-over of session ${id} had not ended: nothing of it is kept`])
  expect(await again.moves.takeOver(await lost(a.registry, id))).toMatchObject({ id, state: 'asleep' })
})

test('17.6 a session that was taken up is there after a restart, and what its earlier host counted is not counted again', async () => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  await b.registry.moves.takeOver(await lost(a.registry, id))
  const before = await b.registry.get(id)
  const again = await fileRegistry(b.home, { ...b.options, ...fileStores(b.home) })
  expect(await again.get(id)).toEqual(before)
  const report = await again.usage.report()
  expect(report.total.turns).toBe(0)
  await again.prompt(id, { prompt: 'dogs' }, owner)
  expect(await again.waitTurn(id, 2)).toMatchObject({ reason: 'end_turn' })
  expect((await again.usage.report()).total.turns).toBe(1)
})

test('17.6 a session that a host gives up is ended there, adds nothing to its log and names the host that has it', async () => {
  const a = await host({ hostId: 'a' })
  const { id } = await start(a.registry, 'cats hang')
  await settled()
  const path = join(homeLayout(a.home).sessions, id, 'events.jsonl')
  const before = await readFile(path, 'utf8')
  const waiting = a.registry.waitTurn(id, 1)
  const reader = await a.registry.follow(id, 0)
  const giving = a.registry.moves.giveUp(id, 'b')
  void a.agents.agents[0]?.sink.emit([{ type: 'text-delta', text: 'late' }])
  await giving
  expect(a.agents.agents[0]?.stops).toBe(1)
  expect(await a.registry.get(id)).toMatchObject({
    status: 'killed',
    stopReason: 'moved',
    movedTo: 'b',
    state: 'ended',
    resumable: false,
  })
  expect(await waiting).toMatchObject({ reason: 'cancelled' })
  expect((await drain(reader)).flatMap(({ records }) => records).map(({ json }) => json)).toEqual(
    before.trimEnd().split('\n'),
  )
  const refused = { code: 'session_ended', parts: { data: { host: 'b' } } }
  await expect(a.registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject(refused)
  await expect(a.registry.resume(id, {}, owner)).rejects.toMatchObject(refused)
  await expect(a.registry.resume(id, { fresh: true }, owner)).rejects.toMatchObject(refused)
  await expect(a.registry.fork(id, {}, owner)).rejects.toMatchObject(refused)
  await expect(a.registry.archive.repair(id, { dryRun: false }, owner)).rejects.toMatchObject(refused)
  await a.registry.rename(id, { title: 'other' }, owner)
  await a.registry.configure(id, { permissionMode: 'deny-all' }, owner)
  await a.registry.moves.giveUp(id, 'b')
  await a.registry.close()
  expect(await readFile(path, 'utf8')).toBe(before)
})

test('17.6 a session that sleeps is given up too, and a restart of its host changes nothing of that', async () => {
  const a = await host({ hostId: 'a' })
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  await a.registry.close()
  const again = await fileRegistry(a.home, { ...a.options, ...fileStores(a.home) })
  expect(await again.get(id)).toMatchObject({ state: 'asleep' })
  await again.moves.giveUp(id, 'b')
  const given = await again.get(id)
  expect(given).toMatchObject({ stopReason: 'moved', movedTo: 'b', state: 'ended' })
  const path = join(homeLayout(a.home).sessions, id, 'events.jsonl')
  const log = await readFile(path, 'utf8')
  await again.close()
  const last = await fileRegistry(a.home, { ...a.options, ...fileStores(a.home) })
  expect(await last.get(id)).toEqual(given)
  await expect(last.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
  expect(await readFile(path, 'utf8')).toBe(log)
})

test('17.6 a host that is killed while it gives a session up does not end its log at its next start', async () => {
  const a = await host({ hostId: 'a' })
  const { id } = await start(a.registry, 'cats hang')
  await settled()
  const path = join(homeLayout(a.home).sessions, id, 'events.jsonl')
  const before = await readFile(path, 'utf8')
  const [agent] = a.agents.agents
  let end: () => void = () => undefined
  if (agent !== undefined) agent.onStop = () => new Promise((resolve) => (end = resolve))
  void a.registry.moves.giveUp(id, 'b')
  // Its record is on the disk when its agent is being ended.
  const record = join(homeLayout(a.home).sessions, id, 'meta.json')
  await expect.poll(() => readFile(record, 'utf8')).toContain('"movedTo":"b"')
  const again = await fileRegistry(a.home, { ...a.options, ...fileStores(a.home) })
  expect(await again.get(id)).toMatchObject({ status: 'killed', stopReason: 'moved', movedTo: 'b' })
  expect(await readFile(path, 'utf8')).toBe(before)
  end()
})

test('17.6 an agent that cannot be ended is told to who gives its session up, and the next call tries again', async () => {
  const { registry, agents } = await (async () => {
    const a = scripted(talk)
    return {
      ...(await memoryRegistry({ ...a, adapters: movable(), workspaces: workspacesOf({ app: '/tmp' }) })),
      ...a,
    }
  })()
  const { id } = await start(registry, 'cats hang')
  await settled()
  const [agent] = agents
  if (agent === undefined) throw new Error('No agent was started')
  agent.onStop = () => Promise.reject(new AgentprotoError('termination_failed', 'It lives'))
  await expect(registry.moves.giveUp(id, 'b')).rejects.toMatchObject({ code: 'termination_failed' })
  expect(await registry.get(id)).toMatchObject({ movedTo: 'b', status: 'running' })
  await expect(registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
  agent.onStop = () => Promise.resolve()
  await registry.moves.giveUp(id, 'b')
  expect(await registry.get(id)).toMatchObject({ movedTo: 'b', status: 'killed', stopReason: 'moved' })
})

test('17.6 a session that was given up can be taken up again: the log of the other host replaces the own one', async () => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  const first = await lost(a.registry, id)
  // This one never left its host, and is not a part of the session any more.
  await a.registry.prompt(id, { prompt: 'dogs' }, owner)
  await a.registry.waitTurn(id, 2)
  await b.registry.moves.takeOver(first)
  await expect(a.registry.moves.takeOver(await lost(b.registry, id))).rejects.toMatchObject({ code: 'session_live' })
  await a.registry.moves.giveUp(id, 'b')
  await b.registry.prompt(id, { prompt: 'birds' }, owner)
  await b.registry.waitTurn(id, 2)
  await a.registry.moves.takeOver({ ...(await lost(b.registry, id)), from: 'b' })
  const stored = await readFile(join(homeLayout(a.home).sessions, id, 'meta.json'), 'utf8')
  expect(JSON.parse(stored)).toMatchObject({ session: { movedFrom: 'b', hostId: 'a' } })
  expect(await a.registry.get(id)).toMatchObject({ hostId: 'a', movedFrom: 'b', state: 'asleep', turnCount: 2 })
  expect((await a.registry.get(id)).movedTo).toBeUndefined()
  const text = JSON.stringify(await allEvents(a.registry, id))
  expect([text.includes('birds'), text.includes('dogs')]).toEqual([true, false])
  await a.registry.prompt(id, { prompt: 'fish' }, owner)
  expect(await a.registry.waitTurn(id, 3)).toMatchObject({ reason: 'end_turn' })
})

test('17.6 a suspended host ends the agents of sessions that may be moved and starts none, until it is released', async () => {
  const a = await host({ hostId: 'a' })
  const { id } = await start(a.registry, 'cats hang')
  const stays = await a.registry.spawn({ adapter: 'fake', workspaceSlug: 'app', prompt: 'dogs' }, owner)
  await settled()
  expect(await a.registry.moves.suspend('The lease ran out', 5_000)).toEqual({ ended: [id], running: [] })
  expect(await a.registry.get(id)).toMatchObject({ state: 'asleep', failure: { summary: 'The lease ran out' } })
  const refused = { code: 'host_unreachable', parts: { data: { retryAfter: 5 } } }
  await expect(a.registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject(refused)
  await expect(a.registry.resume(id, {}, owner)).rejects.toMatchObject(refused)
  await expect(start(a.registry)).rejects.toMatchObject(refused)
  await a.registry.prompt(stays.id, { prompt: 'birds' }, owner)
  await a.registry.waitTurn(stays.id, 2)
  a.registry.moves.release()
  await a.registry.prompt(id, { prompt: 'x' }, owner)
  expect(await a.registry.waitTurn(id, 2)).toMatchObject({ reason: 'end_turn' })
})

test('17.6 a suspension waits no longer than it may, and names the sessions whose agents may still run', async () => {
  const agents = scripted(talk)
  const { registry, clock } = await memoryRegistry({
    ...agents,
    adapters: movable(),
    workspaces: workspacesOf({ app: '/tmp' }),
  })
  const { id } = await start(registry, 'cats hang')
  await settled()
  const [agent] = agents.agents
  let end: () => void = () => undefined
  if (agent !== undefined) agent.onStop = () => new Promise((resolve) => (end = resolve))
  const suspending = registry.moves.suspend('The lease ran out', 2_000)
  await clock.advance(2_000)
  expect(await suspending).toEqual({ ended: [], running: [id] })
  end()
})

test('17.6 a registry that begins suspended runs no session that may be moved before it is released', async () => {
  const agents = scripted(talk)
  const workspaces = workspacesOf({ app: '/tmp' })
  const { registry } = await memoryRegistry({
    ...agents,
    adapters: movable(),
    workspaces,
    suspended: 'Not joined yet',
  })
  await expect(start(registry)).rejects.toMatchObject({ code: 'host_unreachable' })
  registry.moves.release()
  expect(await start(registry)).toMatchObject({ status: 'running' })
})

test('17.3 agents of sessions that may be moved are guarded before they start, with each renewal, and no longer than they run', async () => {
  const guards: AgentGuard[] = []
  const running: number[] = []
  const agents = scripted(talk)
  const { registry, clock } = await memoryRegistry({
    ...agents,
    startAgent: (options, sink) => {
      running.push(guards.length)
      return agents.startAgent(options, sink)
    },
    adapters: movable(),
    workspaces: workspacesOf({ app: '/tmp' }),
    guardAgents: async (guard) => void guards.push(guard),
    monotonic: () => 0,
  })
  registry.moves.renew({ forMs: 25_000, graceMs: 2_500 })
  const stays = await registry.spawn({ adapter: 'fake', workspaceSlug: 'app' }, owner)
  expect(guards).toEqual([])
  await clock.advance(1_000)
  const { id } = await start(registry)
  expect(guards).toEqual([{ markers: [id], ms: 24_000, graceMs: 2_500 }])
  expect(running).toEqual([0, 1])

  registry.moves.renew({ forMs: 20_000, graceMs: 2_500 })
  expect(guards.at(-1)).toEqual({ markers: [id], ms: 20_000, graceMs: 2_500 })
  expect(await registry.moves.suspend('The lease ran out', 5_000)).toMatchObject({ ended: [id] })
  expect(guards.at(-1)?.markers).toEqual([])
  const before = guards.length
  registry.moves.renew({ forMs: 20_000, graceMs: 2_500 })
  expect(guards.length).toBe(before)
  expect(await registry.get(stays.id)).toMatchObject({ status: 'running' })
})

test('17.3 a clock that is set back gives guarded agents no more time', async () => {
  const guards: AgentGuard[] = []
  let passed = 0
  const { registry, clock } = await memoryRegistry({
    ...scripted(talk),
    adapters: movable(),
    workspaces: workspacesOf({ app: '/tmp' }),
    guardAgents: async (guard) => void guards.push(guard),
    monotonic: () => passed,
  })
  registry.moves.renew({ forMs: 25_000, graceMs: 2_500 })
  passed = 20_000
  await start(registry)
  expect(guards.at(-1)?.ms).toBe(5_000)
  // Set forward, or asleep in the meantime.
  await clock.advance(24_000)
  await start(registry)
  expect(guards.at(-1)?.ms).toBe(1_000)
})

test('17.3 a process that sessions share is guarded as long as one of them may be moved', async () => {
  const guards: AgentGuard[] = []
  const agents = scripted(talk)
  const { registry } = await memoryRegistry({
    ...agents,
    startAgent: async (options, sink) => {
      const agent = await agents.startAgent(options, sink)
      return Object.assign(agent, { process: { pid: 1, startTime: 'then', marker: 'shared_1' } })
    },
    adapters: movable(),
    workspaces: workspacesOf({ app: '/tmp' }),
    guardAgents: async (guard) => void guards.push(guard),
  })
  registry.moves.renew({ forMs: 25_000, graceMs: 2_500 })
  await registry.spawn({ adapter: 'fake', workspaceSlug: 'app' }, owner)
  expect(guards).toEqual([])
  const { id } = await start(registry)
  await settled()
  expect(guards.at(-1)?.markers).toEqual([id, 'shared_1'])
  await registry.kill(id, owner)
  registry.moves.renew({ forMs: 25_000, graceMs: 2_500 })
  expect(guards.at(-1)?.markers).toEqual([])
})

test('17.6 a start that can never be moved to another host and asks for it is refused, and says why', async () => {
  const a = await host({ hostId: 'a' })
  const below = join(a.folder, 'below')
  await mkdir(below)
  const base = { adapter: 'fake', workspaceSlug: 'app', onHostLoss: 'move' } as const
  const asked: [SpawnAgentRequest, RegExp][] = [
    [{ ...base, cwd: below }, /below the workspace/],
    [{ adapter: 'fake', cwd: a.home, onHostLoss: 'move' }, /in no workspace/],
    [{ ...base, additionalDirectories: [below] }, /additional folders/],
  ]
  for (const [request, what] of asked) {
    const starting = a.registry.spawn(request, owner)
    await expect(starting).rejects.toMatchObject({ code: 'invalid_request', parts: { data: { field: 'onHostLoss' } } })
    await expect(starting).rejects.toThrow(what)
  }
  const parent = await a.registry.spawn({ adapter: 'fake', workspaceSlug: 'app', delegation: {} }, owner)
  const agent = { type: 'session', name: 'agent', sessionId: parent.id, delegates: true } as const
  await expect(a.registry.spawn({ adapter: 'fake', onHostLoss: 'move' }, agent)).rejects.toMatchObject({
    code: 'invalid_request',
  })
  const forgetful = await host({ hostId: 'b', agent: { session: { mode: 'resumable' } } })
  await expect(start(forgetful.registry)).rejects.toMatchObject({ code: 'invalid_request' })
  expect(await start(a.registry)).toMatchObject({ onHostLoss: 'move' })
})

test('17.6 a host that is configured to have its sessions moved does so where it can, and a start can say otherwise', async () => {
  const a = await host({ hostId: 'a' })
  const registry = await fileRegistry(await temporaryHome(), { ...a.options, config: { onHostLoss: 'move' } })
  const policyOf = async (request: object): Promise<unknown> =>
    (await registry.spawn({ adapter: 'fake', ...request }, owner)).onHostLoss
  expect(await policyOf({ workspaceSlug: 'app' })).toBe('move')
  expect(await policyOf({ workspaceSlug: 'app', onHostLoss: 'wait' })).toBeUndefined()
  expect(await policyOf({ cwd: a.home })).toBeUndefined()
})

test('17.6 a session of which too many events are lost is refused, and a gap that lies about its place too', async () => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  const what = async (): Promise<LostSession> => lost(a.registry, id)
  const gaps = [
    { after: 0, first: 2_000_000_000 },
    { after: 3, first: 9 },
    { after: 0, first: 1 },
    { after: 0, first: Number.NaN },
  ]
  for (const gap of gaps) {
    const taking = b.registry.moves.takeOver({ ...(await what()), events: batches({ records: [], gap }) })
    await expect(taking).rejects.toMatchObject({ code: 'invalid_request' })
  }
  const taking = b.registry.moves.takeOver({ ...(await what()), lastSeq: 2_000_000_000 })
  await expect(taking).rejects.toMatchObject({ code: 'invalid_request' })
  expect(await readdir(homeLayout(b.home).sessions)).toEqual([])
})

test('17.6 of two calls that take the same session over at once one is refused, and the session is whole', async () => {
  const [a, b] = [await host({ hostId: 'a' }), await host({ hostId: 'b' })]
  const { id } = await start(a.registry, 'cats')
  await a.registry.waitTurn(id, 1)
  const [one, two] = [await lost(a.registry, id), await lost(a.registry, id)]
  const taken = await Promise.allSettled([b.registry.moves.takeOver(one), b.registry.moves.takeOver(two)])
  expect(taken.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  const events = await allEvents(b.registry, id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
})
