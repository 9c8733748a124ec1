import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentAnswer, PermissionRule, Principal, ToolCall } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { FileRuleStore, type SessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { ManualClock } from './fixtures/manual-clock.js'
import { permission } from './fixtures/permission-requests.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import {
  constantFolder,
  allEvents,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
} from './fixtures/test-registry.js'

const push: ToolCall = { type: 'tool-call', toolCallId: 't', kind: 'execute', input: { command: 'git push' } }

/** Asks for what its prompt names: a command. */
function asker(): { readonly script: Script; readonly answers: AgentAnswer[] } {
  const answers: AgentAnswer[] = []
  const script: Script = async ({ text, ask, emit }) => {
    const asked = text.split(';').map(async (command) => ask(permission({ ...push, input: { command } })))
    answers.push(...(await Promise.all(asked)))
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  return { script, answers }
}

const chosen = (answers: readonly AgentAnswer[]): string[] =>
  answers.map((answer) => (answer.outcome === 'selected' ? answer.optionId : answer.outcome))

/** A workspace `web` that all sessions run in. */
async function workspaces() {
  return constantFolder(await temporaryHome(), 'web')
}

async function pendingId(registry: SessionRegistry, id: string): Promise<string> {
  const pending = async (): Promise<string | undefined> =>
    (await registry.requests(id)).find(({ state }) => state === 'pending')?.requestId
  await expect.poll(pending, { timeout: 10_000 }).toBeDefined()
  return (await pending()) ?? ''
}

test('an answer for the session also answers other pending requests, and later ones', async () => {
  const { script, answers } = asker()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'git push;git push;rm x' }, owner)
  const requestId = await pendingId(registry, id)
  await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(3)
  await registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'once', remember: 'session' }, owner)
  const left = (await registry.waiting()).requests.map(({ request }) => request)
  expect(left).toMatchObject([{ toolCall: { input: { command: 'rm x' } } }])
  const second = await pendingId(registry, id)
  await registry.answer({ id, requestId: second }, { outcome: 'selected', optionId: 'no' }, owner)
  await registry.waitTurn(id, 1)
  expect(chosen(answers)).toEqual(['once', 'once', 'no'])
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'git push' }, owner)).turn)
  expect(chosen(answers).at(-1)).toBe('once')
  const rules = await registry.permissions.rules({ sessionId: id })
  expect(rules).toMatchObject([
    {
      decision: 'allow',
      lifetime: 'session',
      match: { call: expect.any(String) as string },
      createdBy: 'owner',
      from: { requestId },
    },
  ])
  expect((await registry.requests(id)).at(-1)).toMatchObject({
    answeredBy: { type: 'policy', rule: rules[0]?.ruleId },
  })
})

test('16.1 a command that was allowed with its variables is not allowed with others, or without them', async () => {
  const calls: readonly object[] = [{ A: '1' }, { A: '1' }, { A: '2' }, { A: '1', B: '' }, {}].map((variables) => ({
    command: 'git push',
    env: Object.entries(variables).map(([name, value]) => ({ name, value })),
  }))
  const answers: AgentAnswer[] = []
  const script: Script = async ({ ask, emit }) => {
    for (const input of calls) answers.push(await ask(permission({ ...push, input })))
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const answer = async (more: object): Promise<void> => {
    const requestId = await pendingId(registry, id)
    await registry.answer({ id, requestId }, { outcome: 'selected', ...more } as AgentAnswer, owner)
  }
  await answer({ optionId: 'once', remember: 'session' })
  for (const _ of calls.slice(2)) await answer({ optionId: 'no' })
  await registry.waitTurn(id, 1)
  expect(chosen(answers)).toEqual(['once', 'once', 'no', 'no', 'no'])
})

test('an answer that cannot be remembered is refused before the agent gets it', async () => {
  const answers: AgentAnswer[] = []
  const script: Script = async ({ ask, emit }) => {
    answers.push(await ask(permission({ kind: 'execute', title: 'rm -rf /' })))
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const requestId = await pendingId(registry, id)
  const answer = (remember?: 'session' | 'workspace'): Promise<unknown> =>
    registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'once', ...(remember && { remember }) }, owner)
  await expect(answer('session')).rejects.toMatchObject({ code: 'invalid_request' })
  // The test's sessions run in no workspace.
  await expect(answer('workspace')).rejects.toMatchObject({ code: 'invalid_request' })
  expect(answers).toEqual([])
  await answer()
  await registry.waitTurn(id, 1)
  expect(chosen(answers)).toEqual(['once'])
})

test('14.1.2 an answer for the session covers what was shown, though a link leads elsewhere by then', async () => {
  const folder = await temporaryHome()
  await mkdir(join(folder, 'seen'))
  await mkdir(join(folder, 'unseen'))
  const link = join(folder, 'link')
  await symlink(join(folder, 'seen'), link)
  const answers: AgentAnswer[] = []
  const script: Script = async ({ ask, emit }) => {
    answers.push(await ask(permission({ kind: 'edit', input: { path: join(link, 'file'), text: 'x' } })))
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const requestId = await pendingId(registry, id)
  const shown = (await registry.requests(id))[0]?.facts?.allowRule
  await rm(link)
  await symlink(join(folder, 'unseen'), link)
  await registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'once', remember: 'session' }, owner)
  await registry.waitTurn(id, 1)
  expect((await registry.permissions.rules({ sessionId: id }))[0]?.match).toEqual(shown)
  const { turn } = await registry.prompt(id, { prompt: 'again' }, owner)
  await registry.answer(
    { id, requestId: await pendingId(registry, id) },
    { outcome: 'selected', optionId: 'no' },
    owner,
  )
  await registry.waitTurn(id, turn)
  expect(chosen(answers)).toEqual(['once', 'no'])
})

test('a rule of the workspace holds for all its sessions, after a restart, in a file that only the owner reads', async () => {
  const home = await temporaryHome()
  const directory = homeLayout(home).rules
  const common = { workspaces: await workspaces(), rules: new FileRuleStore({ directory }) }
  const first = asker()
  const registry = await fileRegistry(home, { ...scripted(first.script), ...common })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'git push' }, owner)
  const requestId = await pendingId(registry, id)
  await registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'never', remember: 'workspace' }, owner)
  await registry.waitTurn(id, 1)
  const other = await registry.spawn({ adapter: 'fake', prompt: 'git push', permissionMode: 'approve-all' }, owner)
  await registry.waitTurn(other.id, 1)
  expect(chosen(first.answers)).toEqual(['never', 'no'])
  await registry.close()
  const [name = ''] = await readdir(directory)
  expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600)
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  expect(await readdir((await common.workspaces.resolve({})).cwd)).toEqual([])

  const second = asker()
  const again = await fileRegistry(home, {
    ...scripted(second.script),
    ...common,
    rules: new FileRuleStore({ directory }),
  })
  const later = await again.spawn({ adapter: 'fake', prompt: 'git push', permissionMode: 'approve-all' }, owner)
  await again.waitTurn(later.id, 1)
  expect(second.answers).toEqual([
    { outcome: 'selected', optionId: 'no', reason: 'A rule of the workspace denies it.' },
  ])
  const rules = await again.permissions.rules({ workspaceSlug: 'web' })
  expect(rules).toMatchObject([{ decision: 'deny', lifetime: 'workspace' }])
  await again.permissions.removeRule({ workspaceSlug: 'web' }, rules[0]?.ruleId ?? '', owner)
  expect(await new FileRuleStore({ directory }).load((await common.workspaces.resolve({})).cwd)).toEqual([])
})

test('rules of a session are written out, made once, listed and taken back', async () => {
  const { script, answers } = asker()
  const { registry } = await memoryRegistry({ ...scripted(script), workspaces: await workspaces() })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'git push' }, owner)
  await pendingId(registry, id)
  const { permissions } = registry
  const make = (): Promise<PermissionRule> =>
    permissions.addRule({ sessionId: id }, { decision: 'allow', command: 'git **' }, owner)
  const rule = await make()
  expect((await make()).ruleId).toBe(rule.ruleId)
  await registry.waitTurn(id, 1)
  expect(chosen(answers)).toEqual(['once'])
  await permissions.addRule({ workspaceSlug: 'web' }, { decision: 'deny', path: 'secrets/**' }, owner)
  expect((await permissions.rules({ sessionId: id })).map(({ lifetime }) => lifetime)).toEqual(['session', 'workspace'])
  await permissions.removeRule({ sessionId: id }, rule.ruleId, owner)
  await expect(permissions.removeRule({ sessionId: id }, rule.ruleId, owner)).rejects.toMatchObject({
    code: 'rule_not_found',
  })
  await expect(permissions.rules({ sessionId: 'sess_none' })).rejects.toMatchObject({ code: 'session_not_found' })
})

test('a session has at most 200 rules of its own', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const make = (index: number): Promise<PermissionRule> =>
    registry.permissions.addRule({ sessionId: id }, { decision: 'deny', command: `run ${index}` }, owner)
  for (let index = 0; index < 200; index += 1) await make(index)
  await expect(make(200)).rejects.toMatchObject({ code: 'rule_limit_reached' })
})

test('the permission mode of a session can be changed, and answers what waits', async () => {
  const { script, answers } = asker()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'git push' }, owner)
  await pendingId(registry, id)
  expect(await registry.configure(id, { permissionMode: 'deny-all' }, owner)).toMatchObject({
    permissionMode: 'deny-all',
  })
  await registry.waitTurn(id, 1)
  expect(answers).toEqual([{ outcome: 'selected', optionId: 'no', reason: 'The permission mode is deny-all.' }])
})

test('a change of the permission mode is in the log, with who made it, before what it answers', async () => {
  const { script } = asker()
  const { registry } = await memoryRegistry({ ...scripted(script), adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'git push' }, owner)
  await pendingId(registry, id)
  await registry.configure(id, { permissionMode: 'deny-all' }, { type: 'token', name: 'ci', scope: 'operate' })
  await registry.waitTurn(id, 1)
  const events = await allEvents(registry, id)
  expect(events.filter(({ type }) => type === 'config' || type === 'agent-prompt-resolved')).toMatchObject([
    { type: 'config', config: {}, permissionMode: 'deny-all', by: { type: 'principal', name: 'ci' } },
    { type: 'agent-prompt-resolved', by: { type: 'policy', rule: 'deny-all' } },
  ])
  // Of one that has ended it can be changed, too; its log has had its last word.
  await registry.kill(id, owner)
  expect(await registry.configure(id, { permissionMode: 'ask' }, owner)).toMatchObject({ permissionMode: 'ask' })
  expect((await allEvents(registry, id)).at(-1)?.type).toBe('session-stopped')
})

test('an agent decides nothing ahead for its children, and a token nothing for a workspace', async () => {
  const { script } = asker()
  const { registry } = await memoryRegistry({ ...scripted(script), workspaces: await workspaces() })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'git push' }, owner)
  const requestId = await pendingId(registry, id)
  const agent: Principal = { type: 'session', name: 'session s', sessionId: 's', delegates: true }
  const token: Principal = { type: 'token', name: 't', scope: 'operate' }
  const answer = (by: Principal, remember: 'session' | 'workspace'): Promise<unknown> =>
    registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'once', remember }, by)
  const forbidden = { code: expect.stringMatching(/^(?:forbidden|delegation_denied)$/) as string }
  await expect(answer(agent, 'session')).rejects.toMatchObject(forbidden)
  await expect(answer(token, 'workspace')).rejects.toMatchObject(forbidden)
  await expect(registry.configure(id, { permissionMode: 'approve-all' }, agent)).rejects.toMatchObject(forbidden)
  expect(await answer(token, 'session')).toMatchObject({ answeredBy: { name: 't' } })
})

test('12 rules that are not valid are an error and stay, so that nothing they deny is allowed', async () => {
  const directory = join(await temporaryHome(), 'rules')
  const store = new FileRuleStore({ directory })
  const rule = { ruleId: 'pr_1', decision: 'allow', lifetime: 'workspace', createdAt: '', createdBy: 'x' } as const
  await store.save('/web', [{ ...rule, match: { command: 'ls' } }])
  const [name = ''] = await readdir(directory)
  const path = join(directory, name)
  const file = JSON.parse(await readFile(path, 'utf8')) as { rules: object[] }
  // A member of a later version narrows what the rule holds for: without it, it would hold for more.
  await writeFile(path, JSON.stringify({ ...file, rules: [{ ...rule, match: { command: 'ls', host: 'a' } }] }))
  const failure = { code: 'storage_failed' }
  await expect(store.load('/web')).rejects.toMatchObject(failure)
  await expect(store.load('/web')).rejects.toMatchObject(failure)
  await rm(path)
  await mkdir(path)
  await expect(store.load('/web')).rejects.toMatchObject(failure)
  expect(await store.load('/other')).toEqual([])
})

test('15.6 all rules are listed with where they hold: those of workspaces, then of the sessions, newest first', async () => {
  const home = await temporaryHome()
  const { script } = asker()
  const rules = new FileRuleStore({ directory: join(home, 'rules') })
  const clock = new ManualClock()
  const options = { ...scripted(script), workspaces: await workspaces(), rules, clock }
  const registry = await fileRegistry(home, options)
  const older = await registry.spawn({ adapter: 'fake' }, owner)
  await clock.advance(1_000)
  const newer = await registry.spawn({ adapter: 'fake' }, owner)
  const { permissions } = registry
  await permissions.addRule({ sessionId: older.id }, { decision: 'deny', toolKind: 'edit' }, owner)
  await permissions.addRule({ sessionId: newer.id }, { decision: 'allow', toolKind: 'read' }, owner)
  await permissions.addRule({ workspaceSlug: 'web' }, { decision: 'deny', command: 'git push **' }, owner)
  const placed = [
    { workspaceSlug: 'web', decision: 'deny', createdBy: 'owner', match: { command: 'git push **' } },
    { sessionId: newer.id, decision: 'allow' },
    { sessionId: older.id, decision: 'deny' },
  ]
  expect(await permissions.allRules(['web'])).toMatchObject({ rules: placed })
  await registry.close()
  const again = await fileRegistry(home, options)
  const listed = await again.permissions.allRules(['web', 'default'])
  expect(listed).toMatchObject({ rules: placed, unread: [{ workspaceSlug: 'default' }] })
  expect(listed.omitted).toBeUndefined()
})
