import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, type WorkspaceService } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { TokenStore } from '../src/access/token-store.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

function storeIn(home: string, problems: string[] = []): TokenStore {
  return new TokenStore({
    path: join(home, 'tokens.json'),
    clock: systemClock,
    onProblem: (problem) => problems.push(problem),
    workspaces,
  })
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
  expect(await store.list()).toEqual([made])
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
