import type { TokenService } from '@agentproto/contracts'
import { openApiDocument } from '@agentproto/gateway-http/openapi'
import { expect, test } from 'vitest'
import { fakeGateway } from './fake-gateway.ts'
import { fakePermissions } from './fake-permissions.ts'

const READS = [
  '/sessions',
  '/sessions/s1',
  '/sessions/s1/turns',
  '/sessions/s1/requests',
  '/sessions/s1/rules',
  '/agents/demo/sessions',
  '/requests',
  '/workspaces',
  '/workspaces/main/rules',
  '/adapters',
  '/secrets',
  '/tokens',
]

const tokens: TokenService = {
  list: async () => [{ name: 'ci', scope: 'read', createdAt: '2026-11-21T00:00:00.000Z' }],
  create: () => Promise.reject(new Error('not asked for')),
  revoke: () => Promise.reject(new Error('not asked for')),
  rotate: () => Promise.reject(new Error('not asked for')),
}

test('a list or a session that is known already is answered 304 without a body, until it changes', async () => {
  const { call } = fakeGateway({ tokens, permissions: fakePermissions().permissions })
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  for (const path of READS) {
    const first = await call('GET', path)
    const etag = first.headers.get('etag') ?? ''
    expect(etag, path).toMatch(/^"[\w-]+"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await call('GET', path, undefined, { 'if-none-match': known })
      expect([again.status, again.headers.get('etag'), await again.text()], path).toEqual([304, etag, ''])
    }
    expect((await call('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200)
  }
})

test('the tag of a list changes with what is in it, and goes back with it', async () => {
  const { call } = fakeGateway()
  const tag = async (): Promise<string | null> => (await call('GET', '/sessions')).headers.get('etag')
  const empty = await tag()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const one = await tag()
  await call('POST', '/sessions/s1/kill')
  const killed = await tag()
  await call('DELETE', '/sessions/s1')
  expect(new Set([empty, one, killed]).size).toBe(3)
  expect(await tag()).toBe(empty)
})

test('the document says of each list that it is tagged', () => {
  const { paths } = openApiDocument({ version: '1', schemas: { session: {}, event: {} } }) as unknown as Document
  const untagged = Object.entries(paths).filter(([, { get }]) => isList(get) && get?.responses['304'] === undefined)
  expect(untagged.map(([path]) => path)).toEqual([])
})

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly operationId: string; readonly responses: object & { 304?: object } } }>
  >
}

/** A page of the log is not one: what it holds never changes. */
const isList = (get: Document['paths'][string]['get']): boolean => get?.operationId.startsWith('list') === true

test('the tag of an answer depends only on its text', async () => {
  const { call } = fakeGateway()
  for (let i = 0; i < 40; i++) await call('POST', '/sessions/agent', { adapter: 'demo', label: `l${i}` })
  const tags = async (): Promise<readonly (string | null)[]> =>
    Promise.all(
      Array.from({ length: 40 }, async (_, i) => (await call('GET', `/sessions/s${i + 1}`)).headers.get('etag')),
    )
  const first = await tags()
  expect(new Set(first).size).toBe(40)
  expect(await tags()).toEqual(first)
})
