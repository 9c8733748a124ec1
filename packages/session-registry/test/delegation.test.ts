import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AgentprotoError,
  type Principal,
  type ResolvedCwd,
  type Session,
  type WorkspaceResolver,
} from '@agentproto/contracts'
import type { StartAgent, StartAgentOptions } from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { expect, onTestFinished, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { echo, type Script, scripted } from './fixtures/scripted-agent.js'
import { adapters, drain, memoryRegistry, owner, resumableAdapters } from './fixtures/test-registry.js'

const workspaces: WorkspaceResolver = {
  async resolve({ cwd, workspaceSlug }): Promise<ResolvedCwd> {
    const real = await realpath(cwd ?? `/${workspaceSlug}`).catch(() => undefined)
    if (real === undefined) throw new AgentprotoError('cwd_invalid', 'It is not there')
    return { cwd: real, workspaceSlug: 'default', warnings: [] }
  },
  enclosing: () => Promise.resolve([]),
}

const twoAdapters: typeof adapters = {
  list: adapters.list,
  get: async (slug) => ({ ...(await adapters.get('fake')), slug }),
}

async function ground(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-ground-')))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  await mkdir(join(path, 'work', 'inner'), { recursive: true })
  await mkdir(join(path, 'work-beside'))
  await mkdir(join(path, 'more'))
  await symlink(join(path, 'work-beside'), join(path, 'work', 'way-out'))
  return path
}

const as = ({ id }: Session): Principal => ({ type: 'session', name: `session ${id}`, sessionId: id, delegates: true })

interface Opening {
  readonly script?: Script
  readonly catalog?: typeof adapters
  /** Before an agent has started. */
  readonly onStart?: (starting: StartAgentOptions) => Promise<void>
}

async function opened({ script = echo, catalog = twoAdapters, onStart }: Opening = {}) {
  const { startAgent: start, agents } = scripted(script, { resume: true })
  const startAgent: StartAgent = async (options, sink) => {
    await onStart?.(options)
    return start(options, sink)
  }
  const path = await ground()
  const ended: string[] = []
  const opening = { startAgent, workspaces, adapters: catalog, onAgentEnding: (id: string) => void ended.push(id) }
  const { registry, clock } = await memoryRegistry(opening)
  const parent = (more: Partial<SpawnAgentRequest> = {}): Promise<Session> =>
    registry.spawn({ adapter: 'fake', cwd: join(path, 'work'), delegation: {}, ...more }, owner)
  const child = (of: Session, more: Partial<SpawnAgentRequest> = {}): Promise<Session> =>
    registry.spawn({ adapter: 'fake', ...more }, as(of))
  return { registry, clock, agents, path, parent, child, ended }
}

const codeOf = (spawned: Promise<unknown>): Promise<unknown> =>
  spawned.then(
    () => 'spawned',
    (error: AgentprotoError) => error.code,
  )

test('a child has its parent’s line, folder and agent, and the time to live of the grant', async () => {
  const { registry, parent, child, path } = await opened()
  const root = await parent()
  expect(root.delegation).toEqual({
    ttlSeconds: 3_600,
    maxDepth: 1,
    maxChildren: 5,
    permissionMode: 'ask',
    adapters: ['fake'],
    modes: [],
    options: [],
  })
  const born = await child(root)
  expect(born).toMatchObject({
    type: 'spawned',
    parentSessionId: root.id,
    rootSessionId: root.id,
    depth: 1,
    cwd: join(path, 'work'),
    permissionMode: 'ask',
    resumable: false,
    expiresAt: new Date(Date.parse(born.startedAt) + 3_600_000).toISOString(),
    delegation: { maxDepth: 0 },
  })
  expect(root).toMatchObject({ type: 'user' })
  const seen = await registry.list({}, { under: root.id, itself: false })
  expect(seen.sessions.map(({ id }) => id)).toEqual([born.id])
})

test.each<[string, Partial<SpawnAgentRequest>, Partial<SpawnAgentRequest>, string]>([
  ['without a grant nothing', { delegation: undefined }, {}, 'delegation_denied'],
  ['another agent', {}, { adapter: 'other' }, 'delegation_denied'],
  ['another agent that is named', { delegation: { adapters: ['fake', 'other'] } }, { adapter: 'other' }, 'spawned'],
  ['more than the parent is let', {}, { permissionMode: 'approve-all' }, 'delegation_denied'],
  ['as much', { permissionMode: 'approve-all' }, { permissionMode: 'approve-all' }, 'spawned'],
  ['less', {}, { permissionMode: 'deny-all' }, 'spawned'],
  [
    'more than the grant says',
    { permissionMode: 'approve-all', delegation: { permissionMode: 'approve-reads' } },
    { permissionMode: 'approve-all' },
    'delegation_denied',
  ],
  ['a longer life', { delegation: { ttlSeconds: 60 } }, { ttlSeconds: 61 }, 'delegation_denied'],
  ['a shorter life', { delegation: { ttlSeconds: 60 } }, { ttlSeconds: 59 }, 'spawned'],
  ['another mode', {}, { mode: 'yolo' }, 'delegation_denied'],
  ['another mode that is named', { delegation: { modes: ['yolo'] } }, { mode: 'yolo' }, 'spawned'],
  ['an option', {}, { options: { danger: true } }, 'delegation_denied'],
  ['an option that is named', { delegation: { options: ['model'] } }, { options: { model: 'm' } }, 'spawned'],
  ['an option as the parent has it', { options: { model: 'm' } }, { options: { model: 'm' } }, 'spawned'],
  ['MCP servers', {}, { mcpServers: [{ name: 'x', command: '/bin/sh', args: [], env: [] }] }, 'delegation_denied'],
  ['a grant of its own', {}, { delegation: {} }, 'delegation_denied'],
  ['no further children', { delegation: { maxChildren: 1 } }, {}, 'spawned'],
])('%s: %j %j %s', async (_title, granted, asked, expected) => {
  const { registry, parent, child, agents } = await opened()
  const root = await parent(granted)
  expect(await codeOf(child(root, asked))).toBe(expected)
  const made = expected === 'spawned' ? 2 : 1
  expect([agents.length, (await registry.list()).sessions.length]).toEqual([made, made])
})

test.each<[string, string, string]>([
  ['its parent’s folder', '', 'spawned'],
  ['a folder in it', 'inner', 'spawned'],
  ['the folder above', '..', 'cwd_outside_parent'],
  ['one whose name begins the same', '../work-beside', 'cwd_outside_parent'],
  ['a link that leads out', 'way-out', 'cwd_outside_parent'],
  ['a further folder of its parent', '../more', 'spawned'],
  ['one that is not there, outside', '../none', 'cwd_outside_parent'],
  ['one that is not there, inside', 'none', 'cwd_invalid'],
])('a child in %s: %s', async (_title, to, expected) => {
  const { parent, child, path, agents } = await opened()
  const root = await parent({ additionalDirectories: [join(path, 'more')] })
  const cwd = to === 'way-out' ? join(path, 'work', to) : join(path, 'work', to)
  expect(await codeOf(child(root, { cwd }))).toBe(expected)
  const [further, made] = [codeOf(child(root, { additionalDirectories: [cwd] })), agents.length]
  expect([await further, agents.length - made]).toEqual([expected, expected === 'spawned' ? 1 : 0])
})

test('F97 a child that names no folder runs in its parent’s, and not in the active workspace', async () => {
  const { parent, child, path } = await opened()
  const root = await parent({ cwd: join(path, 'work', 'inner') })
  expect(await child(root)).toMatchObject({ cwd: join(path, 'work', 'inner') })
})

test('a child is set as its parent is where it is of its kind', async () => {
  const { parent, child, agents } = await opened()
  const root = await parent({ mode: 'plan', options: { model: 'small' }, delegation: { adapters: ['fake', 'other'] } })
  await child(root)
  await child(root, { adapter: 'other' })
  expect(agents.map(({ options: { mode, options, delegates } }) => [mode, options, delegates])).toEqual([
    ['plan', { model: 'small' }, true],
    ['plan', { model: 'small' }, true],
    [undefined, undefined, true],
  ])
})

test('the depth of children is limited by the grant, one less in each generation', async () => {
  const { parent, child } = await opened()
  const root = await parent({ delegation: { maxDepth: 2 } })
  const first = await child(root)
  const second = await child(first)
  expect(second).toMatchObject({ parentSessionId: first.id, rootSessionId: root.id, depth: 2 })
  expect(await codeOf(child(second))).toBe('max_depth_exceeded')
})

test('the grant limits the live children, also for concurrent spawns', async () => {
  const { registry, parent, child } = await opened()
  const root = await parent({ delegation: { maxChildren: 2 } })
  const codes = (await Promise.all([1, 2, 3, 4].map(() => codeOf(child(root))))).map(String)
  expect(codes.filter((code) => code === 'spawned')).toHaveLength(2)
  expect(codes.filter((code) => code === 'child_quota_exceeded')).toHaveLength(2)
  const [one] = (await registry.list({}, { under: root.id })).sessions
  await registry.kill(one?.id ?? '', as(root))
  expect(await codeOf(child(root))).toBe('spawned')
})

test('no child outlives its parent: not its kill, not its exit, not its time', async () => {
  const { registry, parent, child, clock, agents, ended } = await opened()
  const killed = await parent({ delegation: { maxDepth: 2 } })
  const grandchild = await child(await child(killed))
  await registry.kill(killed.id, owner, 'loop_detected')
  const { sessions } = await registry.list()
  expect(sessions.map(({ status, stopReason }) => [status, stopReason])).toEqual(
    sessions.map(() => ['killed', 'loop_detected']),
  )
  expect(agents.every(({ stops }) => stops === 1)).toBe(true)
  expect(ended.toSorted()).toEqual(sessions.map(({ id }) => id).toSorted())
  expect(await codeOf(registry.resume(grandchild.id, { fresh: true }, owner))).toBe('not_resumable')

  const left = await parent()
  const orphan = await child(left)
  agents.at(-2)?.die({ exitCode: 0 })
  await expect.poll(async () => (await registry.get(left.id)).status).toBe('exited')
  expect(await registry.get(orphan.id)).toMatchObject({ status: 'killed', stopReason: 'shutdown' })

  const short = await parent({ ttlSeconds: 10 })
  const shorter = await child(short, { ttlSeconds: 60 })
  expect(shorter.expiresAt).toBe(short.expiresAt)
  await clock.advance(10_000)
  expect(await registry.get(shorter.id)).toMatchObject({ status: 'killed', stopReason: 'expired' })
})

test('a parent whose agent crashes within a turn ends its child before its own end is logged', async () => {
  const { registry, parent, child, agents, ended } = await opened({ script: () => new Promise(() => undefined) })
  const root = await parent()
  const { id } = await child(root)
  await registry.prompt(id, { prompt: 'works' }, as(root))
  await registry.prompt(root.id, { prompt: 'waits for it' }, owner)
  const reader = await registry.follow(root.id, 0)
  agents[0]?.die({ signal: 'SIGKILL', duringTurn: true })
  const batches = await drain(reader)
  expect(batches.flatMap(({ records }) => records).at(-1)?.type).toBe('session-stopped')
  expect(await registry.get(root.id)).toMatchObject({ status: 'exited', stopReason: 'agent_crashed' })
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'shutdown', resumable: false })
  expect(await registry.waitTurn(id, 1)).toMatchObject({ state: 'ended', reason: 'cancelled' })
  expect([ended.toSorted(), agents[1]?.stops]).toEqual([[root.id, id].toSorted(), 1])
})

test('a child that is still starting ends with its parent as well', async () => {
  let called = 0
  const onStart = async ({ signal }: StartAgentOptions): Promise<void> => {
    called += 1
    if (called === 2) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('off'))))
  }
  const { registry, parent, child, agents } = await opened({ onStart })
  const root = await parent()
  const starting = codeOf(child(root))
  await expect.poll(() => called, { timeout: 20_000 }).toBe(2)
  await registry.kill(root.id, owner)
  expect(await starting).not.toBe('spawned')
  const { sessions } = await registry.list()
  expect(sessions.map(({ status }) => status).toSorted()).toEqual(['error', 'killed'])
  expect(agents).toHaveLength(1)
})

test('a resumed parent has its grant, and none of its old children', async () => {
  const { registry, parent, child } = await opened({ catalog: resumableAdapters })
  const root = await parent({ delegation: { maxChildren: 1 } })
  const old = await child(root)
  expect(await codeOf(child(root))).toBe('child_quota_exceeded')
  await registry.kill(root.id, owner)
  expect(await codeOf(child(root))).toBe('delegation_denied')
  await registry.resume(root.id, {}, owner)
  expect(await registry.get(old.id)).toMatchObject({ status: 'killed' })
  const again = await child(root)
  expect(again).toMatchObject({ parentSessionId: root.id, depth: 1 })
  expect(await codeOf(child(root))).toBe('child_quota_exceeded')
})

test('a child ends when its own time is over, and its parent goes on', async () => {
  const { registry, parent, child, clock } = await opened()
  const root = await parent()
  const { id } = await child(root, { ttlSeconds: 5 })
  await clock.advance(5_000)
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'expired' })
  expect(await registry.get(root.id)).toMatchObject({ status: 'running' })
})

test('a parent that is ending gets no further child', async () => {
  const { registry, parent, child, agents } = await opened()
  const root = await parent()
  let release: () => void = () => undefined
  const [agent] = agents
  if (agent) agent.onStop = () => new Promise((resolve) => (release = resolve))
  const killing = registry.kill(root.id, owner)
  await settled()
  expect(await codeOf(child(root))).toBe('delegation_denied')
  release()
  await killing
  expect(await codeOf(child(root))).toBe('delegation_denied')
  expect(agents.length).toBe(1)
})

test('a parent whose children live is not idle', async () => {
  const { registry, parent, child, clock } = await opened({ catalog: resumableAdapters })
  const root = await parent()
  const { id } = await child(root, { ttlSeconds: 1_200 })
  await clock.advance(11 * 60_000)
  expect(await registry.get(root.id)).toMatchObject({ status: 'running' })
  await clock.advance(10 * 60_000)
  expect(await registry.get(id)).toMatchObject({ stopReason: 'expired' })
  await clock.advance(11 * 60_000)
  expect(await registry.get(root.id)).toMatchObject({ status: 'killed', stopReason: 'idle' })
})

test('an agent may deny for a child and answer its questions; only a person may allow, fork, configure and forget', async () => {
  const asks: Script = async ({ text, ask, emit }) => {
    const answer =
      text === 'question'
        ? await ask({ kind: 'question', message: 'Which?', mode: 'form' })
        : await ask({
            kind: 'permission',
            toolCall: { type: 'tool-call', toolCallId: 't', title: 'rm' },
            options: [
              { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
              { optionId: 'no', name: 'No', kind: 'reject_once' },
            ],
          })
    await emit({ type: 'text-delta', text: answer.outcome }, { type: 'turn-end', reason: 'end_turn' })
  }
  const { registry, parent, child } = await opened({ script: asks })
  const root = await parent()
  const { id } = await child(root)
  const asked = async (text: string) => {
    const { turn } = await registry.prompt(id, { prompt: text }, as(root))
    const pending = async () => (await registry.requests(id)).find(({ state }) => state === 'pending')
    await expect.poll(pending, { timeout: 20_000 }).toBeDefined()
    const request = await pending()
    return { turn, key: { id, requestId: request?.requestId ?? '' } }
  }
  const permission = await asked('permission')
  expect(await codeOf(registry.answer(permission.key, { outcome: 'selected', optionId: 'yes' }, as(root)))).toBe(
    'delegation_denied',
  )
  await registry.answer(permission.key, { outcome: 'selected', optionId: 'no' }, as(root))
  await registry.waitTurn(id, permission.turn)
  const question = await asked('question')
  await registry.answer(question.key, { outcome: 'accept', content: {} }, as(root))
  expect((await registry.waitTurn(id, question.turn)).text).toBe('accept')
  for (const forbidden of [
    registry.fork(id, {}, as(root)),
    registry.configure(id, { mode: 'yolo' }, as(root)),
    registry.forget(id, as(root)),
  ])
    expect(await codeOf(forbidden)).toBe('delegation_denied')
})
