import { appendFile, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { homeLayout, type StoredSession } from '@agentproto/contracts/agent'
import { openSessionRegistry, type SessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import {
  adapters,
  allEvents,
  drain,
  fileRegistry,
  fileStores,
  owner,
  temporaryHome,
  types,
  constantFolder,
} from './fixtures/test-registry.js'

const workspaces = constantFolder('/tmp')
const midTurn: Script = async ({ emit, ask }) => {
  await emit({ type: 'text-delta', text: 'half' }, { type: 'tool-call', toolCallId: 't1', title: 'Run' })
  await ask({ kind: 'question', message: '?', mode: 'form' })
}

/** A host that dies: its files stay as they are, and nothing of it is closed. */
async function abandoned(home: string, script: Script, prompts: readonly string[]): Promise<string> {
  const registry = await openSessionRegistry({
    ...fileStores(home),
    ...scripted(script),
    adapters,
    workspaces,
    hostId: 'dead',
  })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  for (const prompt of prompts) {
    await registry.prompt(id, { prompt }, owner)
    await settled()
  }
  return id
}

test('F11 F60 a turn that a crash interrupted is brought to an end by appending', async () => {
  const home = await temporaryHome()
  const id = await abandoned(home, midTurn, ['go'])
  const path = join(homeLayout(home).sessions, id, 'events.jsonl')
  const before = await readFile(path, 'utf8')
  const ended: StoredSession[] = []
  const registry = await fileRegistry(home, { ...scripted(), endLeftovers: async (stored) => void ended.push(stored) })
  expect(ended.map(({ session }) => session.id)).toEqual([id])
  expect((await readFile(path, 'utf8')).startsWith(before)).toBe(true)
  expect(await registry.get(id)).toMatchObject({
    status: 'error',
    stopReason: 'agent_crashed',
    failure: { kind: 'process_exit', summary: 'The gateway ended while the session was active' },
    connection: 'disconnected',
    turn: { state: 'idle' },
    pendingRequests: 0,
  })
  const events = await allEvents(registry, id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(types(events).slice(2)).toEqual([
    'user-prompt',
    'text-delta',
    'tool-call',
    'agent-prompt',
    'tool-result',
    'agent-prompt-resolved',
    'error',
    'turn-end',
    'repair',
    'status',
    'session-stopped',
  ])
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'error', text: 'half' })
})

test('a session that was starting when its host died is an error of the start', async () => {
  const home = await temporaryHome()
  const registry = await openSessionRegistry({
    ...fileStores(home),
    startAgent: () => new Promise(() => undefined),
    adapters,
    workspaces,
    hostId: 'dead',
  })
  void registry.spawn({ adapter: 'fake' }, owner).catch(() => undefined)
  await expect.poll(async () => (await readdir(homeLayout(home).sessions)).length).toBe(1)
  const id = (await registry.list()).sessions[0]?.id ?? ''
  await expect
    .poll(async () =>
      stat(join(homeLayout(home).sessions, id, 'meta.json')).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  const next = await fileRegistry(home, scripted())
  expect(await next.get(id)).toMatchObject({
    status: 'error',
    stopReason: 'error',
    failure: { kind: 'startup_failure' },
  })
})

test('F44 an orderly shutdown keeps every session and its log, and a second one changes nothing', async () => {
  const home = await temporaryHome()
  const registry = await fileRegistry(home, scripted())
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'hello', label: 'mine' }, owner)
  await registry.waitTurn(id, 1)
  await registry.close()
  await registry.close()
  const next = await fileRegistry(home, scripted())
  expect((await next.list()).sessions).toMatchObject([
    { id, label: 'mine', status: 'killed', stopReason: 'shutdown', turnCount: 1, title: 'hello' },
  ])
  expect((await next.output(id)).map(({ line }) => line)).toEqual([
    '[user] hello',
    'echo: hello',
    '── turn-end (end_turn) ──',
  ])
  expect(await next.turns(id)).toMatchObject([{ number: 1, reason: 'end_turn' }])
  expect((await allEvents(next, id)).at(-1)).toMatchObject({ type: 'session-stopped' })
})

test('F45 an unreadable record or index is moved aside with a warning, and never stops the boot', async () => {
  const home = await temporaryHome()
  const layout = homeLayout(home)
  const first = await fileRegistry(home, scripted())
  const { id } = await first.spawn({ adapter: 'fake' }, owner)
  await first.close()
  await writeFile(layout.sessionsIndex, '{"version":1,')
  const problems: string[] = []
  const second = await fileRegistry(home, { ...scripted(), onProblem: (problem) => void problems.push(problem) })
  expect(await second.get(id)).toMatchObject({ status: 'killed' })
  await second.close()
  const meta = join(layout.sessions, id, 'meta.json')
  await writeFile(meta, 'nonsense')
  await utimes(meta, new Date('2030-01-01'), new Date('2030-01-01'))
  const third = await fileRegistry(home, { ...scripted(), onProblem: (problem) => void problems.push(problem) })
  // The index still has the last good record.
  expect(await third.get(id)).toMatchObject({ status: 'killed' })
  expect(problems).toHaveLength(2)
  const names = [...(await readdir(home)), ...(await readdir(join(layout.sessions, id)))]
  expect(names.filter((name) => name.includes('unreadable'))).toHaveLength(2)
})

test.each([
  ['an empty record', ''],
  ['half a record', '{"version":1,"session":{"id":"s_'],
])('F46 %s is made good from the index, at this boot and at each one after it', async (_, spoiled) => {
  const home = await temporaryHome()
  const layout = homeLayout(home)
  const first = await fileRegistry(home, scripted())
  const { id } = await first.spawn({ adapter: 'fake', label: 'kept' }, owner)
  await first.close()
  const meta = join(layout.sessions, id, 'meta.json')
  await writeFile(meta, spoiled)
  await utimes(meta, new Date('2030-01-01'), new Date('2030-01-01'))
  const problems: string[] = []
  const onProblem = (problem: string): void => void problems.push(problem)
  // The first of them is killed: it stores nothing.
  for (let boot = 0; boot < 3; boot += 1) {
    const { store } = fileStores(home)
    const { sessions, problems: told } = await store.load()
    expect(sessions).toMatchObject([{ session: { id, label: 'kept', status: 'killed' } }])
    problems.push(...told)
  }
  expect(problems).toEqual([expect.stringContaining(meta)])
  expect(await (await fileRegistry(home, { ...scripted(), onProblem })).get(id)).toMatchObject({ label: 'kept' })
})

test('an empty log is reported as one whose events are all lost', async () => {
  const home = await temporaryHome()
  const layout = homeLayout(home)
  const first = await fileRegistry(home, scripted())
  const { id } = await first.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await first.waitTurn(id, 1)
  await first.close()
  await writeFile(join(layout.sessions, id, 'events.jsonl'), '')
  const next = await fileRegistry(home, scripted())
  const { lastSeq } = await next.get(id)
  expect(lastSeq).toBeGreaterThan(5)
  expect((await next.archive.search({ q: 'echo' })).unreadable).toEqual([{ sessionId: id, events: lastSeq }])
  const kinds = (await next.archive.repair(id, { dryRun: true }, owner)).findings.map(({ kind }) => kind)
  expect(kinds).toEqual(['no-end', 'record-differs'])
  const [notice] = await drain(await next.follow(id, lastSeq))
  expect(notice).toEqual({ records: [], gap: { after: lastSeq, first: 1 } })
})

test('a session directory that is newer than the index wins over it', async () => {
  const home = await temporaryHome()
  const layout = homeLayout(home)
  const first = await fileRegistry(home, scripted())
  const { id } = await first.spawn({ adapter: 'fake', label: 'old' }, owner)
  await first.close()
  const meta = join(layout.sessions, id, 'meta.json')
  await writeFile(meta, (await readFile(meta, 'utf8')).replace('"label":"old"', '"label":"new"'))
  await utimes(meta, new Date('2030-01-01'), new Date('2030-01-01'))
  expect(await (await fileRegistry(home, scripted())).get(id)).toMatchObject({ label: 'new' })
})

test('a torn last line is reported in the log of the session itself', async () => {
  const home = await temporaryHome()
  const id = await abandoned(home, midTurn, ['go'])
  await appendFile(join(homeLayout(home).sessions, id, 'events.jsonl'), '{"seq":99,"ts":"20')
  const registry: SessionRegistry = await fileRegistry(home, scripted())
  const repairs = (await allEvents(registry, id)).filter(({ type }) => type === 'repair')
  expect(repairs).toHaveLength(2)
  expect(JSON.stringify(repairs[0])).toContain('were not a whole event')
})

test('files of the registry are the owner’s alone', async () => {
  const home = await temporaryHome()
  const registry = await fileRegistry(home, scripted())
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await registry.close()
  const layout = homeLayout(home)
  const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
  expect(await mode(layout.sessionsIndex)).toBe(0o600)
  expect(await mode(join(layout.sessions, id, 'meta.json'))).toBe(0o600)
  expect(await mode(join(layout.sessions, id))).toBe(0o700)
})

/** Two ended sessions with the index of both, after which nothing runs. */
async function twoSessions(home: string): Promise<[string, string]> {
  const registry = await fileRegistry(home, scripted())
  const { id: a } = await registry.spawn({ adapter: 'fake', label: 'a' }, owner)
  const { id: b } = await registry.spawn({ adapter: 'fake', label: 'b' }, owner)
  await registry.close()
  return [a, b]
}

const movedAside = async (folder: string): Promise<string[]> => {
  const names = (await readdir(folder)).filter((name) => name.includes('.unreadable-'))
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
}

test('F46 one unreadable record, with an unreadable index, costs no other session anything', async () => {
  const home = await temporaryHome()
  const layout = homeLayout(home)
  const [a, b] = await twoSessions(home)
  const other = await readFile(join(layout.sessions, b, 'meta.json'), 'utf8')
  const events = await readFile(join(layout.sessions, a, 'events.jsonl'), 'utf8')
  await writeFile(layout.sessionsIndex, 'not an index')
  await writeFile(join(layout.sessions, a, 'meta.json'), '{"version":1,"session":')
  const problems: string[] = []
  const next = await fileRegistry(home, { ...scripted(), onProblem: (problem) => void problems.push(problem) })
  const { id: c } = await next.spawn({ adapter: 'fake', label: 'c' }, owner)
  await next.close()
  expect(problems).toHaveLength(2)
  expect(await readFile(join(layout.sessions, b, 'meta.json'), 'utf8')).toBe(other)
  expect(await readFile(join(layout.sessions, a, 'events.jsonl'), 'utf8')).toBe(events)
  expect(await movedAside(join(layout.sessions, a))).toEqual(['{"version":1,"session":'])
  expect(await movedAside(home)).toEqual(['not an index'])
  const { sessions } = await (await fileRegistry(home, scripted())).list()
  expect(sessions.map(({ id }) => id).toSorted()).toEqual([b, c].toSorted())
})

test('F62 what a newer version has stored is moved aside unchanged, and reported', async () => {
  const home = await temporaryHome()
  const layout = homeLayout(home)
  const [a, b] = await twoSessions(home)
  const meta = join(layout.sessions, a, 'meta.json')
  const newer = (text: string): string => text.replace('"version":1', '"version":2')
  const record = newer(await readFile(meta, 'utf8'))
  const index = newer(await readFile(layout.sessionsIndex, 'utf8'))
  expect([JSON.parse(record), JSON.parse(index)]).toMatchObject([{ version: 2 }, { version: 2 }])
  await writeFile(meta, record)
  await writeFile(layout.sessionsIndex, index)
  const problems: string[] = []
  const next = await fileRegistry(home, { ...scripted(), onProblem: (problem) => void problems.push(problem) })
  expect((await next.list()).sessions.map(({ id }) => id)).toEqual([b])
  await next.close()
  expect(problems).toEqual([expect.stringContaining(layout.sessionsIndex), expect.stringContaining(meta)])
  expect([await movedAside(home), await movedAside(join(layout.sessions, a))]).toEqual([[index], [record]])
})

test('a session that was being resumed when its host died ended with its host', async () => {
  const home = await temporaryHome()
  const id = await abandoned(home, midTurn, [])
  const second = await fileRegistry(home, scripted())
  expect(await second.get(id)).toMatchObject({ status: 'error' })
  await second.close()
  const third = await openSessionRegistry({
    ...fileStores(home),
    startAgent: () => new Promise(() => undefined),
    adapters,
    workspaces,
    hostId: 'dead',
  })
  void third.resume(id, { fresh: true }, owner).catch(() => undefined)
  const path = join(homeLayout(home).sessions, id, 'events.jsonl')
  // From the moment that the log has it: the record of an ended session is saved in its own time.
  await expect
    .poll(async () => (await readFile(path, 'utf8')).match(/"status":"starting"/g)?.length, { interval: 1 })
    .toBe(2)

  const registry = await fileRegistry(home, scripted())
  expect(await registry.get(id)).toMatchObject({ status: 'error', failure: { kind: 'process_exit' } })
  expect(types(await allEvents(registry, id)).slice(-4)).toEqual(['status', 'repair', 'status', 'session-stopped'])
})
