import type { BrowserLogin, NewToken, Principal, Scope, TokenService } from '@agentproto/contracts'
import { OPERATIONS, scopeOfRoute } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { fakeGateway, OWNER } from './fake-gateway.ts'
import { fakePermissions } from './fake-permissions.ts'
import type { FakeGateway } from './fake-gateway.ts'

// Every route with every principal. What a new route may not be: without a row.

const made: NewToken = { name: 't', scope: 'read', createdAt: '2026-11-21T00:00:00.000Z', token: 'agp_t_x' }
const tokens: TokenService = {
  list: async () => [],
  create: async () => made,
  revoke: async () => ({ ended: [], kept: [] }),
  rotate: async () => ({ ...made, ended: [], kept: [] }),
}

const browsers: BrowserLogin = {
  code: () => ({ code: 'c', expiresAt: '2026-11-21T00:01:00.000Z' }),
  exchange: async () => undefined,
  logOut: async () => undefined,
  caller: ({ name, type }) => ({ name, type, scope: 'read' }),
}

/** Sessions: s1 in `mine`, s2 in `theirs`, s3 a child of s1. */
async function gatewayOf(by: Principal | undefined): Promise<FakeGateway> {
  const gateway = fakeGateway({
    tokens,
    browsers,
    metrics: async () => '{}',
    gateway: () => ({ version: '', startedAt: '', host: '', node: '', platform: '', budgets: { workspaces: {} } }),
    openApi: () => Promise.resolve({}),
    permissions: fakePermissions().permissions,
    mcp: async () => new Response('{}'),
    acp: { fetch: async () => new Response('{}'), upgrade: () => expect.fail('nothing asks for it') },
    authenticate: (token) => (token === 'setup' ? OWNER : by),
  })
  const asOwner = { authorization: 'Bearer setup' }
  for (const workspaceSlug of ['mine', 'theirs', 'mine'])
    await gateway.call('POST', '/sessions/agent', { adapter: 'demo', workspaceSlug, prompt: 'ask' }, asOwner)
  const child = gateway.sessions.all.get('s3')
  if (child) child.session = { ...child.session, parentSessionId: 's1', rootSessionId: 's1', depth: 1 }
  for (const slug of ['mine', 'theirs', 'w'])
    await gateway.call('POST', '/workspaces', { path: `/${slug}`, slug }, asOwner)
  return gateway
}

const token = (scope: Scope, workspaces?: readonly string[]): Principal => ({
  type: 'token',
  name: 't',
  scope,
  ...(workspaces === undefined ? {} : { workspaces }),
})
const session = (delegates: boolean): Principal => ({ type: 'session', name: 'session s1', sessionId: 's1', delegates })

/** What each may do, and on which of the sessions it may do it. */
const PRINCIPALS: readonly {
  readonly who: string
  readonly by: Principal | undefined
  readonly may: readonly Scope[]
  readonly reads: readonly string[]
  readonly drives: readonly string[]
}[] = [
  { who: 'a caller without a token', by: undefined, may: [], reads: [], drives: [] },
  { who: 'the owner', by: OWNER, may: ['read', 'operate', 'admin'], ...both('s1', 's2', 's3') },
  { who: 'a read token', by: token('read'), may: ['read'], ...both('s1', 's2', 's3') },
  { who: 'an operate token', by: token('operate'), may: ['read', 'operate'], ...both('s1', 's2', 's3') },
  { who: 'an admin token', by: token('admin'), may: ['read', 'operate', 'admin'], ...both('s1', 's2', 's3') },
  { who: 'a bound read token', by: token('read', ['mine']), may: ['read'], ...both('s1', 's3') },
  { who: 'a bound operate token', by: token('operate', ['mine']), may: ['read', 'operate'], ...both('s1', 's3') },
  { who: 'a token bound to elsewhere', by: token('operate', ['none']), may: ['read', 'operate'], ...both() },
  { who: 'a session', by: session(false), may: ['read'], reads: ['s1', 's3'], drives: [] },
  { who: 'a granted session', by: session(true), may: ['read', 'operate'], reads: ['s1', 's3'], drives: ['s3'] },
]

function both(...ids: readonly string[]): { readonly reads: readonly string[]; readonly drives: readonly string[] } {
  return { reads: ids, drives: ids }
}

const BODIES: Readonly<Record<string, unknown>> = {
  'POST /sessions/agent': { adapter: 'demo' },
  'POST /agents/:agent/sessions': {},
  'POST /sessions/:id/config': { model: 'm' },
  'POST /sessions/:id/prompt': { prompt: 'hello', whenBusy: 'queue' },
  'POST /sessions/:id/requests/:requestId': { optionId: 'yes' },
  'POST /sessions/:id/rules': { decision: 'deny', toolKind: 'edit' },
  'POST /workspaces/:slug/rules': { decision: 'deny', toolKind: 'edit' },
  'POST /sessions/:id/rewind': { turn: 0 },
  'POST /workspaces': { path: '/x', slug: 'x' },
  'POST /adapters': { source: '/x' },
  'POST /tokens': { name: 't', scope: 'read' },
}

interface Asked {
  readonly key: string
  readonly on: string
}

async function ask(gateway: FakeGateway, { key, on }: Asked): Promise<{ status: number; code: unknown }> {
  const [method = '', pattern = ''] = key.split(' ')
  const path = pattern
    .replace(':id', on)
    .replace(':requestId', 'r1')
    .replace(':agent', 'demo')
    .replace(':slug', pattern.startsWith('/adapters') ? 'demo' : 'w')
    .replace(':name', 't')
  const body = BODIES[key.replace('/agents/:agent/sessions/:id', '/sessions/:id')]
  const response = await gateway.call(method === 'ALL' ? 'POST' : method, path, body)
  const { status } = response
  if (/^(?:text\/(?:event-stream|x-diff)|image\/)/.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel()
    return { status, code: undefined }
  }
  const { code } = (await response.json()) as { readonly code?: unknown }
  return { status, code }
}

const keysOf = ({ app }: FakeGateway): readonly string[] =>
  app.routes
    .filter(({ method, path }) => method !== 'ALL' || scopeOfRoute(`ALL ${path}`) !== undefined)
    .map(({ method, path }) => `${method} ${path}`)
    .filter((key) => key !== 'GET /health' && key !== 'GET /auth/exchange')

test('F81 every route has its row in the table, and every row its route', async () => {
  const keys = keysOf(await gatewayOf(OWNER))
  expect(keys.filter((key) => scopeOfRoute(key) === undefined)).toEqual([])
  expect(
    Object.entries(OPERATIONS).flatMap(([key, { scope }]) => (scope === 'open' || keys.includes(key) ? [] : [key])),
  ).toEqual([])
})

type Row = (typeof PRINCIPALS)[number]

function expectedOf({ by, may, reads, drives }: Row, scope: Scope, on: string): string {
  if (by === undefined) return 'unauthorized'
  if (!may.includes(scope)) return by.type === 'session' && scope === 'operate' ? 'delegation_denied' : 'forbidden'
  return on === '' || (scope === 'read' ? reads : drives).includes(on) ? 'through' : 'session_not_found'
}

const REFUSALS = ['unauthorized', 'forbidden', 'delegation_denied', 'session_not_found']

test.each(PRINCIPALS)(
  '$who is let through to what is theirs, and to nothing else',
  { timeout: 60_000 },
  async (row) => {
    for (const key of new Set(keysOf(await gatewayOf(row.by)))) {
      const scope = scopeOfRoute(key) ?? 'admin'
      for (const on of key.includes('/:id') ? ['s1', 's2', 's3'] : ['']) {
        const { status, code } = await ask(await gatewayOf(row.by), { key, on })
        const got = REFUSALS.includes(String(code)) ? code : 'through'
        expect([key, on, got]).toEqual([key, on, expectedOf(row, scope, on)])
        expect(status).toBeLessThan(500)
      }
    }
  },
)

test('no answer may be kept, guessed at, or read by a page of another origin', { timeout: 60_000 }, async () => {
  const keys = keysOf(await gatewayOf(OWNER))
  for (const key of ['GET /health', 'GET /auth/exchange', ...keys]) {
    const { app } = await gatewayOf(OWNER)
    const [method = '', path = ''] = key.replace('ALL', 'POST').replace(':id', 's1').split(' ')
    for (const asked of [method, 'OPTIONS', 'PATCH']) {
      const headers = { authorization: 'Bearer x', host: 'localhost', origin: 'http://localhost:3000' }
      const { headers: received, body } = await app.request(path, { method: asked, headers })
      await body?.cancel()
      const kept = body === null ? 'nothing to keep' : received.get('cache-control')
      expect([key, asked, received.get('access-control-allow-origin')]).toEqual([key, asked, null])
      expect([key, asked, body === null ? 'nosniff' : received.get('x-content-type-options')]).toEqual([
        key,
        asked,
        'nosniff',
      ])
      expect([key, asked, kept]).toEqual([key, asked, expect.stringMatching(/no-store|nothing/)])
    }
  }
})

test('a route that has no row is the owner’s alone', async () => {
  for (const [by, expected] of [
    [OWNER, 200],
    [token('admin'), 403],
    [session(true), 403],
  ] as const) {
    const { app, call } = fakeGateway({ authenticate: () => by })
    app.get('/new', (c) => c.text('here'))
    expect((await call('GET', '/new')).status).toBe(expected)
  }
})

test('lists hold what their caller reaches', async () => {
  const seen = async (by: Principal): Promise<unknown> => {
    const { call } = await gatewayOf(by)
    const read = async (path: string): Promise<Record<string, { id: string; sessionId: string; slug: string }[]>> =>
      (await call('GET', path)).json() as Promise<never>
    return {
      sessions: (await read('/sessions'))['sessions']?.map(({ id }) => id),
      requests: (await read('/requests'))['requests']?.map(({ sessionId }) => sessionId),
      workspaces: (await read('/workspaces'))['workspaces']?.map(({ slug }) => slug),
    }
  }
  const all = { sessions: ['s1', 's2', 's3'], requests: ['s1', 's2', 's3'], workspaces: ['mine', 'theirs', 'w'] }
  expect(await seen(OWNER)).toEqual(all)
  expect(await seen(token('read'))).toEqual(all)
  const mine = { sessions: ['s1', 's3'], requests: ['s1', 's3'] }
  expect(await seen(token('read', ['mine']))).toEqual({ ...mine, workspaces: ['mine'] })
  expect(await seen(session(false))).toEqual({ ...mine, workspaces: [] })
})

test('an app that is mounted under a prefix keeps its bounds', async () => {
  const { app } = await gatewayOf(token('read', ['mine']))
  const { Hono } = await import('hono')
  const outer = new Hono().route('/gateway', app as never)
  const status = async (path: string, method = 'GET'): Promise<number> =>
    (await outer.request(`/gateway${path}`, { method, headers: { authorization: 'Bearer x' } })).status
  expect([
    await status('/sessions/s1'),
    await status('/sessions/s2'),
    await status('/sessions/s1/kill', 'POST'),
  ]).toEqual([200, 404, 403])
})

test('ids are read as their handler reads them', async () => {
  const { call } = await gatewayOf(token('read', ['mine']))
  const statuses = [
    '/sessions/%73%31',
    '/sessions/%732',
    '/sessions/s1/',
    '/sessions/s2/',
    '/sessions/%',
    '/sessions//s2',
  ]
  expect(await Promise.all(statuses.map(async (path) => (await call('GET', path)).status))).toEqual([
    200, 404, 200, 404, 404, 404,
  ])
})

test('the streams of a token end when it is revoked', async () => {
  const revocation = new AbortController()
  const by = token('read')
  const gateway = fakeGateway({
    authenticate: (given) => (given === 'theirs' ? by : OWNER),
    revoked: (who) => (who === by ? revocation.signal : undefined),
  })
  const open = async (bearer: string): Promise<ReadableStreamDefaultReader<Uint8Array>> => {
    const response = await gateway.call('GET', '/events', undefined, { authorization: `Bearer ${bearer}` })
    return (response.body as ReadableStream<Uint8Array>).getReader()
  }
  const [theirs, owners] = [await open('theirs'), await open('owner')]
  await theirs.read()
  await owners.read()
  const end = theirs.read()
  revocation.abort()
  expect((await end).done).toBe(true)
  await expect.poll(() => gateway.sessions.feed.watchers).toBe(1)
  await owners.cancel()
})
