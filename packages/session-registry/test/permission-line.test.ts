import type { AgentAnswer, PermissionMode, Principal, Session, WorkspaceResolver } from '@agentproto/contracts'
import type { AddRuleRequest, SpawnAgentRequest } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { least } from '../src/delegation/delegation.js'
import { settled } from './fixtures/manual-clock.js'
import { permission } from './fixtures/permission-requests.js'
import { type Script, scripted } from './fixtures/scripted-agent.js'
import { memoryRegistry, owner, temporaryHome } from './fixtures/test-registry.js'

// 12.A5: what is allowed to a session is what is allowed to it, to the sessions above it, and in every workspace around it.

/** Asks to run its prompt, and says which option was chosen. */
const asker: Script = async ({ text, ask, emit }) => {
  const answer: AgentAnswer = await ask(permission({ kind: 'execute', input: { command: text } }))
  const said = answer.outcome === 'selected' ? answer.optionId : answer.outcome
  await emit({ type: 'text-delta', text: said }, { type: 'turn-end', reason: 'end_turn' })
}

const as = ({ id }: Session): Principal => ({ type: 'session', name: `session ${id}`, sessionId: id, delegates: true })

/** Workspaces by slug; a session that names none runs in the last one. */
async function opened(folders: (root: string) => Record<string, string>) {
  const root = await temporaryHome()
  const all = Object.entries(folders(root)).map(([slug, path]) => ({ slug, path }))
  const around = (folder: string) =>
    all.filter(({ path }) => `${folder}/`.startsWith(`${path}/`)).toSorted((a, b) => b.path.length - a.path.length)
  const workspaces: WorkspaceResolver = {
    async resolve({ cwd, workspaceSlug }) {
      const path = cwd ?? (all.find(({ slug }) => slug === workspaceSlug) ?? all.at(-1))?.path ?? root
      return { cwd: path, workspaceSlug: around(path)[0]?.slug ?? 'default', warnings: [] }
    },
    enclosing: async (folder) => around(folder),
  }
  const agents = scripted(asker)
  const { registry } = await memoryRegistry({ ...agents, workspaces })
  const spawn = (more: Partial<SpawnAgentRequest> = {}, by: Principal = owner): Promise<Session> =>
    registry.spawn({ adapter: 'fake', permissionMode: 'approve-all', ...more }, by)
  /** What the session is allowed: an option, or `ask` while a person has to decide. */
  const tries = async (session: Session, command: string): Promise<string> => {
    const { turn } = await registry.prompt(session.id, { prompt: command }, owner)
    const waits = async (): Promise<boolean> => {
      await settled()
      const { turn: now } = await registry.get(session.id)
      return now.state === 'busy' ? waits() : now.state === 'awaiting-input'
    }
    if (!(await waits())) return (await registry.waitTurn(session.id, turn)).text
    await registry.interrupt(session.id, owner)
    await registry.waitTurn(session.id, turn)
    return 'ask'
  }
  const deny = (scope: { sessionId: string } | { workspaceSlug: string }, more: Partial<AddRuleRequest> = {}) =>
    registry.permissions.addRule(scope, { decision: 'deny', command: 'git push **', ...more }, owner)
  const setMode = (session: Session, permissionMode: PermissionMode) =>
    registry.configure(session.id, { permissionMode }, owner)
  return { root, registry, ...agents, spawn, tries, deny, setMode }
}

const one = (root: string) => ({ web: root })
const nested = (root: string) => ({ outer: root, middle: `${root}/a`, inner: `${root}/a/b` })
const line = { delegation: { maxDepth: 3 }, permissionMode: 'approve-all' } as const

test('12.A5 a child is denied what its parent, or the parent of that, is denied', async () => {
  const { spawn, tries, deny, registry } = await opened(one)
  const root = await spawn(line)
  const child = await spawn({}, as(root))
  const grandchild = await spawn({}, as(child))
  expect([await tries(child, 'git push'), await tries(grandchild, 'git push')]).toEqual(['once', 'once'])
  const { ruleId } = await deny({ sessionId: root.id })
  expect([await tries(child, 'git push'), await tries(grandchild, 'git push')]).toEqual(['no', 'no'])
  expect(await tries(grandchild, 'git status')).toBe('once')
  expect((await registry.permissions.rules({ sessionId: grandchild.id })).map((rule) => rule.ruleId)).toEqual([ruleId])
  await registry.permissions.removeRule({ sessionId: root.id }, ruleId, owner)
  expect(await tries(grandchild, 'git push')).toBe('once')
})

test('12.A5 a rule of a parent that allows allows its child nothing', async () => {
  const { spawn, tries, registry } = await opened(one)
  const root = await spawn(line)
  const child = await spawn({ permissionMode: 'ask' }, as(root))
  await registry.permissions.addRule({ sessionId: root.id }, { decision: 'allow', command: 'git push' }, owner)
  expect([await tries(root, 'git push'), await tries(child, 'git push')]).toEqual(['once', 'ask'])
})

test('12.A5 a mode that is lowered is lowered for every session below, at once and only as long', async () => {
  const { spawn, tries, setMode, registry } = await opened(one)
  const root = await spawn(line)
  const child = await spawn({}, as(root))
  const grandchild = await spawn({}, as(child))
  await setMode(root, 'ask')
  expect([await tries(child, 'ls'), await tries(grandchild, 'ls')]).toEqual(['ask', 'ask'])
  await setMode(child, 'deny-all')
  expect([await tries(root, 'ls'), await tries(grandchild, 'ls')]).toEqual(['ask', 'no'])
  await setMode(root, 'approve-all')
  await setMode(child, 'approve-reads')
  expect([await tries(child, 'ls'), await tries(grandchild, 'ls')]).toEqual(['ask', 'ask'])
  await setMode(child, 'approve-all')
  expect(await tries(grandchild, 'ls')).toBe('once')
  // A child of a session that was lowered begins as low.
  await setMode(root, 'deny-all')
  expect(await tries(await spawn({}, as(root)), 'ls')).toBe('no')
  expect(await registry.get(grandchild.id)).toMatchObject({ permissionMode: 'approve-all' })
})

test('12.A5 a mode or a denial of a parent answers what its child already waits for', async () => {
  const { spawn, setMode, deny, registry } = await opened(one)
  const root = await spawn(line)
  const ends = async (session: Session, change: () => Promise<unknown>): Promise<string> => {
    const { turn } = await registry.prompt(session.id, { prompt: 'git push' }, owner)
    await expect.poll(async () => (await registry.get(session.id)).turn.state).toBe('awaiting-input')
    await change()
    return (await registry.waitTurn(session.id, turn)).text
  }
  const child = await spawn({ permissionMode: 'ask' }, as(root))
  expect(await ends(child, () => deny({ sessionId: root.id }))).toBe('no')
  const other = await spawn(line)
  const second = await spawn({ permissionMode: 'ask' }, as(other))
  expect(await ends(second, () => setMode(other, 'deny-all'))).toBe('no')
})

test('12.A5 the agent of a child is set to a mode that fits the lowered mode of its parent', async () => {
  const { spawn, setMode, agents } = await opened(one)
  const root = await spawn(line)
  await spawn({}, as(root))
  const [, agent] = agents
  const modes = [{ id: 'full-access' }, { id: 'read-only' }].map(({ id }) => ({ id, name: id }))
  await agent?.sink.emit([{ type: 'config', config: { modes, modeId: 'full-access' } }])
  const set: unknown[] = []
  if (agent) agent.configure = async (change) => void set.push(change)
  await setMode(root, 'ask')
  expect(set).toEqual([{ mode: 'read-only' }])
})

test('12.A5 every workspace around a session denies, and only its own allows', async () => {
  const { spawn, tries, deny, registry, root } = await opened(nested)
  const session = await spawn({ cwd: `${root}/a/b/c` })
  expect(session).toMatchObject({ workspaceSlug: 'inner' })
  await deny({ workspaceSlug: 'outer' })
  expect([await tries(session, 'git push'), await tries(session, 'git status')]).toEqual(['no', 'once'])
  await deny({ workspaceSlug: 'middle' }, { command: 'rm **' })
  expect(await tries(session, 'rm x')).toBe('no')
  const careful = await spawn({ cwd: `${root}/a/b`, permissionMode: 'ask' })
  await registry.permissions.addRule({ workspaceSlug: 'outer' }, { decision: 'allow', command: 'ls' }, owner)
  expect(await tries(careful, 'ls')).toBe('ask')
  await registry.permissions.addRule({ workspaceSlug: 'inner' }, { decision: 'allow', command: 'ls' }, owner)
  expect(await tries(careful, 'ls')).toBe('once')
  const above = await spawn({ cwd: root })
  expect([await tries(above, 'rm x'), await tries(above, 'git push')]).toEqual(['once', 'no'])
})

test('12.A5 the workspace of a further folder denies, and a child in it has the denials of its parent’s workspace', async () => {
  const { spawn, tries, deny, root } = await opened((at) => ({ web: `${at}/web`, lib: `${at}/lib` }))
  const parent = await spawn({ ...line, cwd: `${root}/web`, additionalDirectories: [`${root}/lib`] })
  const child = await spawn({ cwd: `${root}/lib` }, as(parent))
  expect(child).toMatchObject({ workspaceSlug: 'lib' })
  await deny({ workspaceSlug: 'web' })
  await deny({ workspaceSlug: 'lib' }, { command: 'rm **' })
  expect([await tries(child, 'git push'), await tries(parent, 'rm x')]).toEqual(['no', 'no'])
})

test('12.A5 while the denials of a parent cannot be read, a child asks a person', async () => {
  const folder = await temporaryHome()
  const rules = { load: () => Promise.reject(new Error('no such disk')), save: () => Promise.resolve() }
  const resolve = () => Promise.resolve({ cwd: folder, workspaceSlug: 'default', warnings: [] })
  let isKnown = false
  const workspaces = { resolve, enclosing: async () => (isKnown ? [{ slug: 'web', path: folder }] : []) }
  const { registry } = await memoryRegistry({ ...scripted(asker), workspaces, rules })
  const root = await registry.spawn({ adapter: 'fake', ...line }, owner)
  const child = await registry.spawn({ adapter: 'fake', permissionMode: 'approve-all' }, as(root))
  isKnown = true
  await registry.prompt(child.id, { prompt: 'ls' }, owner)
  await expect.poll(async () => (await registry.get(child.id)).turn.state).toBe('awaiting-input')
})

test('12.A5 a mode that is not known is stricter than all others', () => {
  const strange = 'allow-most' as PermissionMode
  for (const mode of ['deny-all', 'ask', 'approve-reads', 'approve-all'] as const)
    expect([least(strange, mode), least(mode, strange)]).toEqual([strange, strange])
})

test('12.A5 a fork keeps what its session is denied', async () => {
  const { startAgent } = scripted(asker, { fork: true })
  const { registry } = await memoryRegistry({ startAgent })
  const old = await registry.spawn({ adapter: 'fake', permissionMode: 'approve-all' }, owner)
  await registry.waitTurn(old.id, (await registry.prompt(old.id, { prompt: 'ls' }, owner)).turn)
  await registry.permissions.addRule({ sessionId: old.id }, { decision: 'deny', command: 'git push **' }, owner)
  const fork = await registry.fork(old.id, { prompt: 'git push' }, owner)
  expect((await registry.waitTurn(fork.id, 1)).text).toBe('no')
})
