import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentprotoError, Principal, Session } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { agentOf, locatedAgents, owner, tokenFor } from './fixtures/located-agents.js'

// 12.A1: every start of an agent is in the folder that was checked for the caller of now. `work` and `shop` are workspaces.

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'started',
    (error: AgentprotoError) => error.code,
  )

const all = (code: string): readonly string[] => [code, code, code, code]

async function opened(more: readonly string[] = []) {
  const located = await locatedAgents(['work', 'shop', ...more])
  const { root, registry } = located
  for (const folder of ['work/a', 'work/b', 'shop/a']) mkdirSync(join(root, folder), { recursive: true })
  const at = (path: string): string => join(root, path)
  const spawn = (cwd: string, by: Principal = owner, asked: object = {}): Promise<Session> =>
    registry.spawn({ adapter: 'located', cwd: at(cwd), ...asked }, by)
  /** Puts a link in the place of a folder. */
  const swap = (path: string, target: string): void => {
    renameSync(at(path), at(`${path}~`))
    symlinkSync(at(target), at(path))
  }
  /** What each way to start the agent of a session leads to, one after the other. */
  const everyStart = async (id: string, by: Principal): Promise<readonly unknown[]> => [
    await codeOf(registry.resume(id, {}, by)),
    await codeOf(registry.resume(id, { fresh: true }, by)),
    await codeOf(registry.prompt(id, { prompt: 'wake up' }, by)),
    await codeOf(registry.fork(id, {}, by)),
  ]
  return { ...located, at, spawn, swap, everyStart }
}

test('12.A1 a session whose folder was replaced by a link is neither resumed, forked nor woken, and stays as it was', async () => {
  const { registry, leave, spawn, swap, everyStart, places, at } = await opened()
  const work = tokenFor('work')
  const { id } = await spawn('work/a', work)
  await leave(id)
  const before = await registry.get(id)
  swap('work/a', 'shop/a')
  for (const [by, code] of [[work, 'cwd_not_allowed'] as const, [owner, 'cwd_invalid'] as const])
    expect(await everyStart(id, by)).toEqual(all(code))
  expect(await registry.get(id)).toEqual(before)
  expect([await places(id), (await registry.list()).sessions.length]).toEqual([[at('work/a')], 1])
  // The same folder again.
  rmSync(at('work/a'))
  renameSync(at('work/a~'), at('work/a'))
  expect(await codeOf(registry.resume(id, { fresh: true }, work))).toBe('started')
  expect(await places(id)).toEqual([at('work/a'), at('work/a')])
})

test('12.A1 a link within the same workspace is another folder, too, and so is one further up', async () => {
  const { leave, spawn, swap, everyStart, at } = await opened()
  mkdirSync(at('work/b/c'))
  mkdirSync(at('shop/a/c'))
  const sessions = [await spawn('work/a'), await spawn('work/b/c')]
  for (const { id } of sessions) await leave(id)
  swap('work/a', 'work/b')
  swap('work/b', 'shop/a')
  for (const { id } of sessions) expect(await everyStart(id, owner)).toEqual(all('cwd_invalid'))
})

test('12.A1 a further folder that was replaced by a link is not given either', async () => {
  const { registry, leave, spawn, swap, everyStart, at } = await opened()
  const { id } = await spawn('work/a', owner, { additionalDirectories: [at('work/b')] })
  await leave(id)
  swap('work/b', 'shop/a')
  expect(await everyStart(id, owner)).toEqual(all('cwd_invalid'))
  expect(await codeOf(registry.resume(id, { fresh: true }, tokenFor('work')))).toBe('cwd_not_allowed')
})

test('12.A1 a start is checked against the caller of now, and the workspaces of now', async () => {
  const { registry, leave, workspaces, spawn, everyStart, at } = await opened()
  const { id } = await spawn('work/a', tokenFor('work'))
  await leave(id)
  expect(await everyStart(id, tokenFor('shop'))).toEqual(all('cwd_not_allowed'))
  // The name is that of another folder now.
  await workspaces.remove('work')
  await workspaces.add({ path: at('shop/a'), slug: 'work' })
  expect(await everyStart(id, tokenFor('work'))).toEqual(all('cwd_not_allowed'))
  expect(await codeOf(registry.resume(id, { fresh: true }, owner))).toBe('started')
})

test('12.A1 a workspace whose folder became a link gives its tokens nothing', async () => {
  const { spawn, swap, registry } = await opened(['work/deep'])
  swap('work/deep', 'shop')
  const deep = tokenFor('deep')
  expect(await codeOf(registry.spawn({ adapter: 'located', workspaceSlug: 'deep' }, deep))).toBe('cwd_not_allowed')
  expect(await codeOf(spawn('work/deep/a', deep))).toBe('cwd_not_allowed')
  expect(await codeOf(spawn('shop/a', deep))).toBe('cwd_not_allowed')
})

test('12.A1 an imported session is never started, whatever its file says', async () => {
  const { registry, leave, spawn, everyStart, root } = await opened()
  const session = await spawn('work/a')
  await registry.waitTurn(session.id, (await registry.prompt(session.id, { prompt: 'x' }, owner)).turn)
  await leave(session.id)
  const path = join(root, 'export.jsonl')
  const chunks: string[] = []
  for await (const chunk of await registry.archive.export(session.id, 'jsonl')) chunks.push(chunk)
  await writeFile(path, chunks.join('').replaceAll('"resumable":false', '"resumable":true'))
  async function* text() {
    yield await readFile(path, 'utf8')
  }
  const { id } = await registry.archive.import(text(), owner)
  const never = ['not_resumable', 'not_resumable', 'session_ended', 'not_resumable']
  expect(await everyStart(id, owner)).toEqual(never)
  expect((await registry.archive.repair(id, { dryRun: false }, owner)).id).toBe(id)
  expect(await codeOf(registry.resume(id, { fresh: true }, owner))).toBe('not_resumable')
})

test('12.A1 an agent that replaces its own folder by a link gets no child where that leads', async () => {
  const { registry, spawn, swap, at } = await opened()
  const parent = await spawn('work/a', owner, { delegation: { maxDepth: 2 }, additionalDirectories: [at('work/b')] })
  const child = (asked: object = {}) => codeOf(registry.spawn({ adapter: 'located', ...asked }, agentOf(parent)))
  expect(await child()).toBe('started')
  swap('work/a', 'shop/a')
  swap('work/b', 'shop')
  for (const asked of [
    {},
    { cwd: at('work/a') },
    { cwd: at('shop/a') },
    { cwd: at('work/b/a') },
    { workspaceSlug: 'shop' },
  ])
    expect(await child(asked)).toBe('cwd_outside_parent')
})

test.each(['checked', 'located'] as const)(
  '12.A1 a folder that is swapped during the launch (%s) is not used',
  async (when) => {
    const { registry, leave, spawn, swap, places, during, at } = await opened()
    const { id } = await spawn('work/a')
    await leave(id)
    during[when] = () => {
      delete during[when]
      swap('work/a', 'shop/a')
    }
    expect(await codeOf(registry.resume(id, { fresh: true }, owner))).toBe('cwd_invalid')
    expect(await places(id)).toEqual([at('work/a')])
    during[when] = () => {
      delete during[when]
      swap('work/b', 'shop/a')
    }
    expect(await codeOf(spawn('work/b', tokenFor('work')))).toBe('cwd_invalid')
    // A sandbox would mount what a further folder leads to.
    during[when] = () => {
      delete during[when]
      swap('work/c', 'shop/a')
    }
    mkdirSync(at('work/c'))
    expect(await codeOf(spawn('work', owner, { additionalDirectories: [at('work/c')] }))).toBe('cwd_invalid')
  },
)
