import { AgentprotoError, type Principal, type ResolvedCwd, type WorkspaceResolver } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { scripted } from './fixtures/scripted-agent.js'
import { memoryRegistry } from './fixtures/test-registry.js'

// Who may run an agent where. /work is the workspace `work`, /shop the workspace `shop`.

const workspaces: WorkspaceResolver = {
  resolve({ cwd, workspaceSlug }): Promise<ResolvedCwd> {
    if (cwd?.startsWith('/gone')) return Promise.reject(new AgentprotoError('cwd_invalid', 'It is not there'))
    const slug = cwd === undefined ? (workspaceSlug ?? 'work') : (/^\/(work|shop)(?:$|\/)/.exec(cwd)?.[1] ?? 'default')
    return Promise.resolve({ cwd: cwd ?? `/${slug}`, workspaceSlug: slug, warnings: [] })
  },
  enclosing(folder) {
    const slug = /^\/(work|shop)(?:$|\/)/.exec(folder)?.[1]
    return Promise.resolve(slug === undefined ? [] : [{ slug, path: `/${slug}` }])
  },
}

const opened = async (where: WorkspaceResolver) => {
  const { startAgent, agents } = scripted()
  return { ...(await memoryRegistry({ startAgent, workspaces: where })), agents }
}

const owner: Principal = { type: 'owner', name: 'owner' }
const anywhere: Principal = { type: 'token', name: 'ci', scope: 'operate' }
const work: Principal = { ...anywhere, workspaces: ['work'] }
const shop: Principal = { ...anywhere, workspaces: ['shop'] }
const both: Principal = { ...anywhere, workspaces: ['work', 'shop'] }

test.each<[string, Principal, object, string]>([
  ['the owner anywhere', owner, { cwd: '/etc' }, '/etc'],
  ['a token in a workspace', anywhere, { cwd: '/work/a' }, '/work/a'],
  ['a token in no workspace', anywhere, { cwd: '/etc' }, 'cwd_not_allowed'],
  ['a bound token in its own', work, { cwd: '/work/a' }, '/work/a'],
  ['a bound token by slug', work, { workspaceSlug: 'work' }, '/work'],
  ['a bound token by another slug', work, { workspaceSlug: 'shop' }, 'workspace_not_found'],
  ['a bound token by another folder', work, { cwd: '/shop' }, 'cwd_not_allowed'],
  ['a bound token that asks whether a folder is there', work, { cwd: '/gone/a' }, 'cwd_not_allowed'],
  ['a token bound to one, which it need not name', shop, {}, '/shop'],
  ['a token bound to two, of which one is active', both, {}, '/work'],
  [
    'a token that names its workspace and another folder',
    work,
    { cwd: '/shop', workspaceSlug: 'work' },
    'cwd_not_allowed',
  ],
  ['further folders outside', work, { additionalDirectories: ['/work/b', '/shop'] }, 'cwd_not_allowed'],
  ['further folders inside', work, { additionalDirectories: ['/work/b'] }, '/work'],
])('%s', async (_title, by, asked, expected) => {
  const { registry, agents } = await opened(workspaces)
  const spawned = registry.spawn({ adapter: 'fake', ...asked }, by).then(
    ({ cwd }) => cwd,
    (error: AgentprotoError) => error.code,
  )
  expect(await spawned).toBe(expected)
  expect(agents.length).toBe(expected.startsWith('/') ? 1 : 0)
  expect((await registry.list()).sessions.length).toBe(agents.length)
})

test('the folder of the host, where no workspace is active, is the owner’s alone', async () => {
  const none: WorkspaceResolver = {
    resolve: () => Promise.resolve({ cwd: '/host', workspaceSlug: 'default', warnings: ['no workspace'] }),
    enclosing: () => Promise.resolve([]),
  }
  const { registry } = await opened(none)
  await expect(registry.spawn({ adapter: 'fake' }, anywhere)).rejects.toMatchObject({ code: 'cwd_not_allowed' })
  await expect(registry.spawn({ adapter: 'fake' }, { ...anywhere, workspaces: ['default'] })).rejects.toMatchObject({
    code: 'workspace_not_found',
  })
  expect(await registry.spawn({ adapter: 'fake' }, owner)).toMatchObject({ cwd: '/host' })
})

test('an idempotency key is its caller’s own', async () => {
  const { registry } = await opened(workspaces)
  const request = { adapter: 'fake', idempotencyKey: 'k', cwd: '/work' }
  const [mine, again, theirs] = [
    await registry.spawn(request, owner),
    await registry.spawn(request, owner),
    await registry.spawn(request, work),
  ]
  expect([again.id === mine.id, theirs.id === mine.id]).toEqual([true, false])
})

test('12.A8 the keys of a token that was revoked are not those of another one with its name', async () => {
  const { registry } = await opened(workspaces)
  const request = { adapter: 'fake', idempotencyKey: 'k', cwd: '/work' }
  const { id } = await registry.spawn(request, work)
  expect((await registry.spawn(request, { ...work })).id).toBe(id)
  const other = { ...work, workspaces: ['shop'] }
  await expect(registry.spawn(request, other)).rejects.toMatchObject({ code: 'cwd_not_allowed' })
})

test('lists, sessions and changes are those within bounds', async () => {
  const { registry } = await opened(workspaces)
  const watcher = registry.watch({ workspaces: ['shop'] })
  const [a, b] = [
    await registry.spawn({ adapter: 'fake', cwd: '/work' }, owner),
    await registry.spawn({ adapter: 'fake', cwd: '/shop' }, owner),
  ]
  const within = { workspaces: ['shop'] }
  expect((await registry.list({ limit: 1 }, within)).sessions.map(({ id }) => id)).toEqual([b.id])
  expect((await registry.list({ limit: 1 }, within)).nextCursor).toBe(undefined)
  await expect(registry.get(a.id, within)).rejects.toMatchObject({ code: 'session_not_found' })
  expect(await registry.get(b.id, within)).toMatchObject({ id: b.id })
  await registry.forget(a.id, owner)
  await registry.forget(b.id, owner)
  expect(
    (await watcher.next())?.map((change) => (change.type === 'forgotten' ? change.id : change.session.id)),
  ).toEqual([b.id])
  watcher.close()
})
