import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, type WorkspaceService } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { TokenStore } from '../src/access/token-store.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

function storeIn(home: string, problems: string[] = []): TokenStore {
  const path = join(home, 'tokens.json')
  return opened(
    new TokenStore({ path, clock: systemClock, onProblem: (problem) => problems.push(problem), workspaces }),
  )
}

/** It is closed before its folder is removed. */
function opened(store: TokenStore): TokenStore {
  onTestFinished(() => store.close())
  return store
}

const at = '2026-11-22T00:00:00.000Z'
const workspaces: Pick<WorkspaceService, 'list'> = {
  list: async () => ({
    version: 1,
    workspaces: [{ slug: 'shop', path: '/shop', addedAt: at, updatedAt: at }],
  }),
}

test('a token identifies its principal, in this process and the next; its value is not stored', async () => {
  const home = await temporaryFolder()
  const store = storeIn(home)
  const { token, ...made } = await store.create({ name: 'ci', scope: 'operate', workspaces: ['shop', 'shop'] })
  const bounds = { workspaces: ['shop'], folders: { shop: '/shop' } }
  const principal = { type: 'token', name: 'ci', scope: 'operate', ...bounds }
  expect(store.authenticate(token)).toEqual(principal)
  expect(storeIn(home).authenticate(token)).toEqual(principal)
  expect(await store.list()).toEqual([{ ...made, lastUsedAt: expect.any(String) }])
  await store.close()
  const path = join(home, 'tokens.json')
  expect(readFileSync(path, 'utf8')).not.toContain(token.slice(-43))
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('only the exact token is accepted', async () => {
  const store = storeIn(await temporaryFolder())
  const { token } = await store.create({ name: 'a', scope: 'read' })
  const { token: other } = await store.create({ name: 'b', scope: 'admin' })
  const last = token.at(-1) === 'A' ? 'B' : 'A'
  for (const wrong of ['', 'agp_t_', `${token} `, `${token}A`, token.slice(0, -1), token.slice(0, -1) + last])
    expect(store.authenticate(wrong)).toBe(undefined)
  expect(store.authenticate(token.slice(0, 23) + other.slice(23))).toBe(undefined)
})

test('a revoked token is rejected and its streams end; a rotated one has another value', async () => {
  const home = await temporaryFolder()
  const store = storeIn(home)
  const [a, b] = [await store.create({ name: 'a', scope: 'read' }), await store.create({ name: 'b', scope: 'read' })]
  const [byA, byB] = [store.authenticate(a.token), store.authenticate(b.token)]
  if (byA === undefined || byB === undefined) throw new Error('not authenticated')
  const [endA, endB] = [store.revoked(byA), store.revoked(byB)]
  await store.revoke('a')
  expect([store.authenticate(a.token), endA?.aborted, endB?.aborted]).toEqual([undefined, true, false])
  expect(store.revoked(byA)?.aborted).toBe(true)
  const rotated = await store.rotate('b')
  expect([store.authenticate(b.token), endB?.aborted]).toEqual([undefined, true])
  expect(store.authenticate(rotated.token)).toMatchObject({ name: 'b', scope: 'read' })
  expect(storeIn(home).authenticate(rotated.token)).toMatchObject({ name: 'b' })
  await expect(store.revoke('a')).rejects.toMatchObject({ code: 'token_not_found' })
})

test('an invalid request is rejected and stores nothing', async () => {
  const store = storeIn(await temporaryFolder())
  await store.create({ name: 'a', scope: 'read' })
  await expect(store.create({ name: 'a', scope: 'admin' })).rejects.toMatchObject({ code: 'token_exists' })
  await expect(store.create({ name: 'b', scope: 'admin', workspaces: ['w'] })).rejects.toMatchObject({
    code: 'invalid_request',
  })
  expect((await store.list()).map(({ name }) => name)).toEqual(['a'])
})

test('there are at most a hundred', async () => {
  const store = new TokenStore({ path: undefined, clock: systemClock, onProblem: () => undefined, workspaces })
  for (let n = 0; n < 100; n++) await store.create({ name: `t${n}`, scope: 'read' })
  await expect(store.create({ name: 'more', scope: 'read' })).rejects.toMatchObject({ code: 'token_limit_reached' })
  await store.revoke('t5')
  await store.create({ name: 'more', scope: 'read' })
})

test('an unreadable file is moved aside, and then no named token is valid', async () => {
  const home = await temporaryFolder()
  const { token } = await storeIn(home).create({ name: 'a', scope: 'read' })
  writeFileSync(join(home, 'tokens.json'), '{"version":1,"tokens":[{}]}')
  const problems: string[] = []
  expect(storeIn(home, problems).authenticate(token)).toBe(undefined)
  expect(problems).toEqual([expect.stringContaining('tokens.json.unreadable-')])
  expect(readdirSync(home).filter((name) => name.startsWith('tokens.json'))).toEqual([
    expect.stringContaining('unreadable'),
  ])
})

test('a file that others could read is made private', async () => {
  const home = await temporaryFolder()
  await storeIn(home).create({ name: 'a', scope: 'read' })
  chmodSync(join(home, 'tokens.json'), 0o644)
  storeIn(home)
  expect(statSync(join(home, 'tokens.json')).mode & 0o777).toBe(0o600)
})

test('15.6 a token says when it was last used, also in the next process; its file is written once an hour at most', async () => {
  const home = await temporaryFolder()
  const path = join(home, 'tokens.json')
  const problems: string[] = []
  let now = Date.parse(at)
  const clock = { ...systemClock, now: () => now }
  const open = (): TokenStore =>
    opened(new TokenStore({ path, clock, onProblem: (problem) => problems.push(problem), workspaces }))
  const lastUse = async (of: TokenStore): Promise<unknown> => (await of.list())[0]?.lastUsedAt
  const stored = (): unknown => JSON.parse(readFileSync(path, 'utf8')).tokens[0].lastUsedAt
  const store = open()
  const { token } = await store.create({ name: 'ci', scope: 'read' })
  store.authenticate(`${token}x`)
  expect(await lastUse(store)).toBeUndefined()
  store.authenticate(token)
  expect(await lastUse(store)).toBe('2026-11-22T00:00:00.000Z')
  await expect.poll(stored).toBe('2026-11-22T00:00:00.000Z')
  now += 59 * 60_000
  store.authenticate(token)
  expect(await lastUse(store)).toBe('2026-11-22T00:59:00.000Z')
  await store.close()
  expect(stored()).toBe('2026-11-22T00:59:00.000Z')
  const next = open()
  expect(await lastUse(next)).toBe('2026-11-22T00:59:00.000Z')
  const before = readFileSync(path, 'utf8')
  now += 30 * 60_000
  next.authenticate(token)
  expect(readFileSync(path, 'utf8')).toBe(before)
  now += 30 * 60_000
  next.authenticate(token)
  await expect.poll(stored).toBe('2026-11-22T01:59:00.000Z')
  expect(problems).toEqual([])
})

test('15.6 after its end a store writes nothing: another process may have the home', async () => {
  const home = await temporaryFolder()
  const store = storeIn(home)
  const { token } = await store.create({ name: 'ci', scope: 'read' })
  await store.close()
  const path = join(home, 'tokens.json')
  writeFileSync(path, 'of another process')
  expect(store.authenticate(token)).toMatchObject({ name: 'ci' })
  await store.close()
  expect(readFileSync(path, 'utf8')).toBe('of another process')
})
