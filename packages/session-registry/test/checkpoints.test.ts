import { access, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionEvent } from '@agentproto/contracts'
import type { CheckpointRequest } from '@agentproto/contracts/agent'
import type { SessionRegistry } from '@agentproto/session-registry'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock, settled } from './fixtures/manual-clock.js'
import { PlainChangeStore } from './fixtures/plain-change-store.js'
import { echo, type Script, scripted } from './fixtures/scripted-agent.js'
import {
  allEvents,
  constantFolder,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
  types,
} from './fixtures/test-registry.js'

/** A registry whose sessions run in a folder of their own, and are recorded. */
async function recording(script: Script, { folder }: { folder?: string } = {}) {
  const cwd = folder ?? (await temporaryHome())
  const clock = new ManualClock()
  const changes = new PlainChangeStore(clock)
  const { startAgent, agents } = scripted(script)
  const { registry } = await memoryRegistry({ startAgent, clock, changes, workspaces: constantFolder(cwd) })
  return { registry, clock, changes, agents, cwd, at: (name: string) => join(cwd, name) }
}

/** Each prompt is a command: `write a text` or `remove a`. */
const editing =
  (cwd: () => string): Script =>
  async ({ text, emit }) => {
    const [verb = '', name = '', ...words] = text.split(' ')
    if (verb === 'write') await writeFile(join(cwd(), name), words.join('\n'))
    else await rm(join(cwd(), name))
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }

async function editor() {
  const cwd = await temporaryHome()
  await writeFile(join(cwd, 'old'), 'one\ntwo')
  return recording(
    editing(() => cwd),
    { folder: cwd },
  )
}

async function turn(registry: SessionRegistry, id: string, prompt: string): Promise<void> {
  const { turn: number } = await registry.prompt(id, { prompt }, owner)
  await registry.waitTurn(id, number)
}

/** Reads the log until it has so many events of a type. */
async function eventsUntil(registry: SessionRegistry, id: string, type: SessionEvent['type'], count: number) {
  const reader = await registry.follow(id, 0)
  const events: SessionEvent[] = []
  while (events.filter((event) => event.type === type).length < count) {
    const batch = await reader.next()
    if (batch === undefined) break
    events.push(...batch.records.map(({ json }) => JSON.parse(json) as SessionEvent))
  }
  reader.close()
  return events
}

/** Holds each recording back until it is released or aborted. */
function gate(changes: PlainChangeStore, isHeld: (request: CheckpointRequest) => boolean = () => true) {
  const waiting: (() => void)[] = []
  changes.before = async (request) => {
    if (!isHeld(request)) return
    await new Promise<void>((resolve, reject) => {
      waiting.push(resolve)
      request.signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  onTestFinished(() => {
    changes.before = () => Promise.resolve()
    waiting.forEach((release) => release())
  })
  return { release: () => waiting.splice(0).forEach((release) => release()), waiting }
}

test('13.1 the folder is recorded at the start and after each turn, after the turn-end, with what changed', async () => {
  const { registry } = await editor()
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await turn(registry, id, 'write new a b c')
  await turn(registry, id, 'write old one')
  await turn(registry, id, 'remove new')
  const events = await eventsUntil(registry, id, 'checkpoint', 4)
  const ofTurn = (number: number) => types(events.filter((event) => event.turn === number))
  for (const number of [1, 2, 3]) expect(ofTurn(number)).toEqual(['user-prompt', 'turn-end', 'checkpoint'])
  const [start, ...turns] = events.filter((event) => event.type === 'checkpoint')
  expect(start).toMatchObject({ files: 0, additions: 0, deletions: 0, total: { files: 0 } })
  expect(start).not.toHaveProperty('turn')
  expect(turns).toMatchObject([
    { turn: 1, files: 1, additions: 3, deletions: 0, total: { files: 1, additions: 3, deletions: 0 } },
    { turn: 2, files: 1, additions: 0, deletions: 1, total: { files: 2, additions: 3, deletions: 1 } },
    { turn: 3, files: 1, additions: 0, deletions: 3, total: { files: 1, additions: 0, deletions: 1 } },
  ])
  expect((await registry.get(id)).changes).toEqual({ files: 1, additions: 0, deletions: 1 })
  expect((await registry.turns(id)).map(({ changes }) => changes?.additions)).toEqual([3, 0, 0])
})

test('13.1 the turn-end does not wait for the recording; the next prompt waits until it is over', async () => {
  const sent: string[] = []
  const { registry, changes } = await recording(async (given) => {
    sent.push(given.text)
    await echo(given)
  })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await settled()
  const { release } = gate(changes)
  await turn(registry, id, 'a')
  expect((await registry.get(id)).state).toBe('idle')
  await registry.prompt(id, { prompt: 'b' }, owner)
  await registry.prompt(id, { prompt: 'c', whenBusy: 'queue' }, owner)
  await settled()
  expect(sent).toEqual(['a'])
  release()
  await registry.waitTurn(id, 2)
  expect(sent).toEqual(['a', 'b'])
  await settled()
  release()
  await registry.waitTurn(id, 3)
  const log = (await allEvents(registry, id)).filter(({ type }) => type !== 'text-delta' && type !== 'status')
  // A checkpoint belongs to its own turn, also when it is logged during the next.
  expect(log.map(({ type, turn: number }) => [type, number]).slice(0, 6)).toEqual([
    ['checkpoint', undefined],
    ['user-prompt', 1],
    ['turn-end', 1],
    ['user-prompt', 2],
    ['checkpoint', 1],
    ['turn-end', 2],
  ])
})

test('13.1 after 2 s the next prompt is sent, the recording is aborted, and the log says so', async () => {
  const { registry, changes, clock } = await recording(echo)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await settled()
  const { waiting } = gate(changes)
  await turn(registry, id, 'a')
  await registry.prompt(id, { prompt: 'b' }, owner)
  await clock.advance(1_999)
  expect(types(await allEvents(registry, id))).not.toContain('checkpoint-skipped')
  await clock.advance(1)
  await registry.waitTurn(id, 2)
  const skipped = (await allEvents(registry, id)).filter((event) => event.type === 'checkpoint-skipped')
  expect(skipped).toMatchObject([{ turn: 1, reason: 'next_prompt' }])
  await settled()
  // The aborted one has no second outcome, and the next one has begun.
  expect(waiting).toHaveLength(2)
})

test('13.1 a killed session is recorded after its agent has gone, before its end', async () => {
  const cwd = await temporaryHome()
  const { registry, agents } = await recording(async ({ cancelled }) => cancelled, { folder: cwd })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'work' }, owner)
  await settled()
  const [agent] = agents
  if (agent === undefined) throw new Error('no agent was started')
  agent.onStop = () => writeFile(join(cwd, 'last'), 'written while it was stopped')
  await registry.kill(id, owner)
  const log = await allEvents(registry, id)
  expect(types(log).slice(-4)).toEqual(['turn-end', 'checkpoint', 'status', 'session-stopped'])
  expect(log.at(-3)).toMatchObject({ turn: 1, files: 1, additions: 1 })
  expect((await registry.get(id)).changes).toEqual({ files: 1, additions: 1, deletions: 0 })
})

test('13.1 the end of a session waits for the recording for 2 s, then says that it was not recorded', async () => {
  const { registry, changes, clock } = await recording(echo)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await settled()
  gate(changes)
  await turn(registry, id, 'a')
  const killed = registry.kill(id, owner)
  await settled()
  await clock.advance(2_000)
  expect(await killed).toEqual({ ok: true })
  const log = (await allEvents(registry, id)).slice(-3)
  expect(log).toMatchObject([
    { type: 'checkpoint-skipped', turn: 1, reason: 'session_end' },
    { type: 'status', status: 'killed' },
    { type: 'session-stopped' },
  ])
})

test('13.1 an agent that dies in its turn, and one that cannot start, leave no wait behind', async () => {
  const { registry, agents, clock } = await recording(async ({ cancelled }) => cancelled)
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'work' }, owner)
  await settled()
  agents[0]?.die({ duringTurn: true })
  const log = await eventsUntil(registry, id, 'session-stopped', 1)
  expect(types(log).slice(-5)).toEqual(['error', 'turn-end', 'checkpoint', 'status', 'session-stopped'])
  const failing = await memoryRegistry({
    startAgent: () => Promise.reject(new Error('no such program')),
    changes: new PlainChangeStore(),
    workspaces: constantFolder(await temporaryHome()),
  })
  await expect(failing.registry.spawn({ adapter: 'fake' }, owner)).rejects.toThrow('no such program')
  expect([clock.pending, (await registry.get(id)).state]).toEqual([expect.any(Number), 'failed'])
})

test('13.1 a folder that cannot be recorded is said after each turn, and nothing else suffers', async () => {
  const { registry, changes } = await recording(echo)
  changes.skips = 'git_missing'
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await registry.waitTurn(id, 1)
  const skipped = (await eventsUntil(registry, id, 'checkpoint-skipped', 2)).filter(
    (event) => event.type === 'checkpoint-skipped',
  )
  expect(skipped.map(({ reason, turn: number }) => [reason, number])).toEqual([
    ['git_missing', undefined],
    ['git_missing', 1],
  ])
  expect((await registry.get(id)).changes).toBeUndefined()
})

test('13.1 a folder that was moved away, or replaced by a link, is not recorded', async () => {
  const parent = await temporaryHome()
  const cwd = join(parent, 'work')
  await mkdir(cwd)
  const { registry } = await recording(echo, { folder: cwd })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await settled()
  await rename(cwd, join(parent, 'elsewhere'))
  await turn(registry, id, 'a')
  await eventsUntil(registry, id, 'checkpoint-skipped', 1)
  await symlink(join(parent, 'elsewhere'), cwd)
  await turn(registry, id, 'b')
  const skipped = (await eventsUntil(registry, id, 'checkpoint-skipped', 2)).filter(
    (event) => event.type === 'checkpoint-skipped',
  )
  expect(skipped).toMatchObject([
    { turn: 1, reason: 'folder_missing' },
    { turn: 2, reason: 'folder_moved' },
  ])
})

test('13.1 a gateway that died while it recorded: the next one says so, and goes on', async () => {
  const home = await temporaryHome()
  const cwd = await temporaryHome()
  const changes = new PlainChangeStore()
  const { startAgent } = scripted(async ({ text, emit }) => {
    await emit(
      { type: 'text-delta', text },
      ...(text === 'b' ? [] : [{ type: 'turn-end', reason: 'end_turn' } as const]),
    )
    if (text === 'b') await new Promise(() => undefined)
  })
  const options = { startAgent, adapters: resumableAdapters, workspaces: constantFolder(cwd), changes }
  const first = await fileRegistry(home, options)
  const between = await first.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await eventsUntil(first, between.id, 'checkpoint', 2)
  const { waiting } = gate(changes)
  await turn(first, between.id, 'c')
  const during = await first.spawn({ adapter: 'fake' }, owner)
  await settled()
  expect(waiting.length).toBeGreaterThan(0)
  // What is on the disk now is all that the next gateway has.
  changes.before = () => Promise.resolve()
  const second = await fileRegistry(home, options)
  const skippedIn = async (id: string) =>
    (await allEvents(second, id))
      .filter((event) => event.type === 'checkpoint-skipped')
      .map(({ turn: number, reason }) => [number, reason])
  expect(await skippedIn(between.id)).toEqual([[2, 'gateway_end']])
  expect(await skippedIn(during.id)).toEqual([[undefined, 'gateway_end']])
  expect((await second.get(between.id)).changes).toEqual({ files: 0, additions: 0, deletions: 0 })
})

test('13.1 without a store nothing is recorded, and the calls say that it is not supported', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await registry.waitTurn(id, 1)
  await registry.kill(id, owner)
  expect(types(await allEvents(registry, id)).filter((type) => type.startsWith('checkpoint'))).toEqual([])
  await expect(registry.changes.list(id)).rejects.toMatchObject({ code: 'not_supported' })
  await expect(registry.changes.rewind(id, { turn: 0 }, owner)).rejects.toMatchObject({ code: 'not_supported' })
})

test('13.1 forgotten sessions take their checkpoints along, together; old ones are deleted by their age', async () => {
  const { registry, changes, clock } = await recording(echo)
  expect(changes.pruned).toMatchObject([{ before: clock.now() - 30 * 24 * 60 * 60_000 }])
  const ids: string[] = []
  for (let i = 0; i < 3; i += 1) ids.push((await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)).id)
  await settled()
  for (const id of ids) await registry.forget(id, owner)
  await clock.advance(1_000)
  expect(changes.pruned.slice(1)).toEqual([{ sessions: ids.flatMap((id) => [id, `${id}-reviews`]) }])
  await clock.advance(60 * 60_000)
  expect(changes.pruned).toHaveLength(3)
})

test('13.3 a prompt that comes while files are set back is sent after it, and no second rewind begins', async () => {
  const { registry, changes, at } = await editor()
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await turn(registry, id, 'write new a')
  await eventsUntil(registry, id, 'checkpoint', 2)
  const { release, waiting } = gate(changes, ({ label }) => label === undefined)
  const rewinding = registry.changes.rewind(id, { turn: 0 }, owner)
  await settled()
  expect(waiting).toHaveLength(1)
  await registry.prompt(id, { prompt: 'write later b' }, owner)
  await expect(registry.changes.rewind(id, { turn: 0 }, owner)).rejects.toMatchObject({ code: 'folder_in_use' })
  await settled()
  await expect(access(at('later'))).rejects.toMatchObject({ code: 'ENOENT' })
  release()
  expect(await rewinding).toMatchObject({ changed: [{ path: 'new', status: 'deleted' }], before: 'c3' })
  await registry.waitTurn(id, 2)
  const events = await eventsUntil(registry, id, 'checkpoint', 3)
  expect(events.at(-1)).toMatchObject({ turn: 2, files: 1, additions: 1, total: { files: 1, additions: 1 } })
  expect(types(events)).toContain('rewound')
  expect(await registry.changes.list(id, { turn: 2 })).toMatchObject({ files: [{ path: 'later' }], shared: false })
})

test('13.3 a rewind that fails lets prompts through again, and logs nothing', async () => {
  const { registry, changes } = await editor()
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await turn(registry, id, 'write new a')
  await eventsUntil(registry, id, 'checkpoint', 2)
  changes.before = () => Promise.reject(new Error('no room'))
  await expect(registry.changes.rewind(id, { turn: 0 }, owner)).rejects.toThrow('no room')
  changes.before = () => Promise.resolve()
  await turn(registry, id, 'write more b')
  expect(types(await allEvents(registry, id))).not.toContain('rewound')
})

test('13.2 a review survives a restart of the gateway, and no agent reviews or rewinds', async () => {
  const home = await temporaryHome()
  const cwd = await temporaryHome()
  const changes = new PlainChangeStore()
  const options = { startAgent: scripted(editing(() => cwd)).startAgent, workspaces: constantFolder(cwd), changes }
  const first = await fileRegistry(home, options)
  const { id } = await first.spawn({ adapter: 'fake' }, owner)
  await turn(first, id, 'write a 1')
  await turn(first, id, 'write b 2')
  await eventsUntil(first, id, 'checkpoint', 3)
  const review = await first.changes.markReviewed(id, { turn: 1 }, owner)
  expect(review).toMatchObject({ turn: 1, checkpoint: 'c2' })
  const agent = { type: 'session', name: 'agent', sessionId: id, delegates: true } as const
  await expect(first.changes.markReviewed(id, {}, agent)).rejects.toMatchObject({ code: 'delegation_denied' })
  await expect(first.changes.rewind(id, { turn: 0 }, agent)).rejects.toMatchObject({ code: 'delegation_denied' })
  await first.close()
  const second = await fileRegistry(home, options)
  expect((await second.get(id)).reviewed).toEqual(review)
  expect(await second.changes.list(id, { from: 'reviewed' })).toMatchObject({ files: [{ path: 'b' }] })
  expect((await second.turns(id)).map(({ changes: counts }) => counts?.files)).toEqual([1, 1])
})

test('13.1 an export with checkpoints is imported again, and its changes are not here', async () => {
  const { registry } = await editor()
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await turn(registry, id, 'write new a')
  await turn(registry, id, 'write new b')
  await eventsUntil(registry, id, 'checkpoint', 3)
  await registry.kill(id, owner)
  const imported = await registry.archive.import(await registry.archive.export(id, 'jsonl'), owner)
  expect(imported.changes).toEqual((await registry.get(id)).changes)
  expect((await registry.turns(imported.id)).map(({ changes }) => changes?.files)).toEqual([1, 1])
  await expect(registry.changes.list(imported.id)).rejects.toMatchObject({ code: 'not_supported' })
})

test('13.3 the next prompt says to the agent that files were set back, once, and not as words of the person', async () => {
  const cwd = await temporaryHome()
  const { registry } = await recording(echo, { folder: cwd })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await turn(registry, id, 'one')
  await eventsUntil(registry, id, 'checkpoint', 2)
  await writeFile(join(cwd, 'new'), 'a')
  await registry.changes.rewind(id, { turn: 0, dryRun: true }, owner)
  await turn(registry, id, 'two')
  await registry.changes.rewind(id, { turn: 0 }, owner)
  await turn(registry, id, 'three')
  await turn(registry, id, 'four')
  const prompts = (await allEvents(registry, id)).filter((event) => event.type === 'user-prompt')
  expect(prompts.map(({ content, preface = [] }) => [content, preface.map(({ kind }) => kind)])).toEqual([
    [[{ type: 'text', text: 'one' }], []],
    [[{ type: 'text', text: 'two' }], []],
    [[{ type: 'text', text: 'three' }], ['rewind']],
    [[{ type: 'text', text: 'four' }], []],
  ])
})
