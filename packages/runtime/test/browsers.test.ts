import { readFile } from 'node:fs/promises'
import { type Clock, systemClock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import type { Gateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// How a browser gets in without a token in its pages: a code, once, for a cookie.

const HOST = 'localhost:7646'
const PAGE = { host: HOST, origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' }
const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Time extends Clock {
  /** Moves on, and runs what is due. */
  advance(ms: number): void
}

function movable(): Time {
  let now = Date.parse('2026-11-22T00:00:00.000Z')
  const due = new Set<{ readonly at: number; readonly run: () => void }>()
  return {
    ...systemClock,
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run }
      due.add(timer)
      return { cancel: () => void due.delete(timer) }
    },
    advance(ms) {
      now += ms
      for (const timer of due) if (timer.at <= now && due.delete(timer)) timer.run()
    },
  }
}

interface Called {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Headers
}

interface Browser {
  readonly gateway: Gateway
  readonly clock: Time
  call(method: string, path: string, headers?: Record<string, string>): Promise<Called>
  /** As the owner. */
  code(): Promise<string>
  /** What a browser sends from then on. */
  login(): Promise<{ readonly cookie: string; readonly name: string }>
}

async function browser(): Promise<Browser> {
  const clock = movable()
  const gateway = await testGateway({ home: await temporaryHome(), clock })
  const call: Browser['call'] = async (method, path, headers = {}) => {
    const answer = await gateway.app.request(`http://${HOST}${path}`, { method, headers: { host: HOST, ...headers } })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text), headers: answer.headers }
  }
  async function code(): Promise<string> {
    return String((await call('POST', '/auth/code', { authorization: `Bearer ${gateway.token}` })).body['code'])
  }
  async function login(): Promise<{ cookie: string; name: string }> {
    const { body, headers } = await call('GET', `/auth/exchange?code=${await code()}`)
    return { cookie: headers.get('set-cookie')?.split(';')[0] ?? '', name: String(body['name']) }
  }
  return { gateway, clock, call, code, login }
}

test('a code of the owner’s is good for one cookie, which no script and no other site gets', async () => {
  const { gateway, call } = await browser()
  const made = await call('POST', '/auth/code', { authorization: `Bearer ${gateway.token}` })
  expect(made).toMatchObject({ status: 201, body: { expiresAt: '2026-11-22T00:01:00.000Z' } })
  const path = String(made.body['path'])
  // Who only looks does not use it up.
  expect((await call('HEAD', path)).headers.get('set-cookie')).toBe(null)
  const { status, body, headers } = await call('GET', path)
  expect({ status, body }).toEqual({
    status: 200,
    body: { ok: true, name: expect.stringMatching(/^browser-[0-9a-f]{8}$/), expiresAt: '2026-11-22T12:00:00.000Z' },
  })
  expect(headers.get('set-cookie')).toMatch(
    /^agentproto_7646=agp_t_[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  )
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(await call('GET', '/sessions', { cookie: `other=1; ${cookie}`, ...PAGE })).toMatchObject({ status: 200 })
  expect(await call('GET', path)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  const secure = await gateway.app.request(`https://${HOST}${path}`)
  expect(secure.status).toBe(401)
})

test('over TLS the cookie is sent over TLS alone', async () => {
  const { gateway, code } = await browser()
  const { headers } = await gateway.app.request(`https://${HOST}/auth/exchange?code=${await code()}`)
  expect(headers.get('set-cookie')).toMatch(/; HttpOnly; Secure; SameSite=Strict$/)
})

test('15.1 by the public address the cookie is for its path, and for TLS alone; elsewhere it stays as it was', async () => {
  const gateway = await testGateway({ home: await temporaryHome(), publicUrl: 'https://host.example/agents/' })
  const owner = { authorization: `Bearer ${gateway.token}`, host: HOST }
  const exchanged = async (host: string): Promise<string> => {
    const made = await gateway.app.request('/auth/code', { method: 'POST', headers: owner })
    const { code, url } = (await made.json()) as { readonly code: string; readonly url: string }
    expect(url).toBe(`https://host.example/agents/console/#code=${code}`)
    const answer = await gateway.app.request(`/auth/exchange?code=${code}`, { headers: { host } })
    return answer.headers.get('set-cookie') ?? ''
  }
  expect(await exchanged('host.example')).toMatch(
    /^agentproto=[^;]+; Max-Age=43200; Path=\/agents; HttpOnly; Secure; SameSite=Strict$/,
  )
  expect(await exchanged(HOST)).toMatch(/^agentproto_7646=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
  expect(await exchanged('other.example')).toBe('')
})

test('15.1 a public address that is no plain address stops the start', async () => {
  for (const publicUrl of [
    'host.example',
    'ftp://host.example',
    'https://me:secret@host.example',
    'https://h.example?a',
  ])
    await expect(testGateway({ home: await temporaryHome(), publicUrl })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('The public address is not valid') as string,
    })
})

test('a code expires after a minute, at most sixteen are open, and any other code is rejected', async () => {
  const { gateway, clock, call, code } = await browser()
  const late = await code()
  clock.advance(MINUTE)
  expect((await call('GET', `/auth/exchange?code=${late}`)).status).toBe(401)
  expect((await call('GET', '/auth/exchange?code=agp_c_0000000000000000_x')).status).toBe(401)
  expect((await call('GET', '/auth/exchange')).status).toBe(400)
  const timely = await code()
  clock.advance(MINUTE - 1)
  const both = await Promise.all([1, 2].map(() => call('GET', `/auth/exchange?code=${timely}`)))
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401])
  for (let made = 0; made < 16; made++) await code()
  const owner = { authorization: `Bearer ${gateway.token}` }
  expect(await call('POST', '/auth/code', owner)).toMatchObject({ status: 429, body: { code: 'token_limit_reached' } })
})

test('only callers that may create tokens can create a code', async () => {
  const { gateway, call } = await browser()
  for (const scope of ['read', 'operate'] as const) {
    const { token } = await gateway.tokens.create({ name: scope, scope })
    expect((await call('POST', '/auth/code', { authorization: `Bearer ${token}` })).status).toBe(403)
  }
  expect((await call('POST', '/auth/code')).status).toBe(401)
})

test('the cookie counts for the gateway’s own pages alone', async () => {
  const { call, login } = await browser()
  const { cookie } = await login()
  const status = async (method: string, headers: Record<string, string>): Promise<number> =>
    (await call(method, method === 'GET' ? '/sessions' : '/workspaces/none/use', { cookie, ...headers })).status
  const refused: readonly (readonly [string, Record<string, string>])[] = [
    // Another port is the same site to a browser, which sends the cookie there.
    ['GET', { origin: 'http://localhost:3000' }],
    ['GET', { 'sec-fetch-site': 'same-site' }],
    ['GET', { 'sec-fetch-site': 'cross-site' }],
    ['POST', {}],
    ['POST', { origin: 'null' }],
    ['POST', { origin: 'http://localhost:3000' }],
    ['POST', { 'sec-fetch-site': 'none' }],
    ['POST', { ...PAGE, 'sec-fetch-site': 'same-site' }],
  ]
  for (const [method, headers] of refused)
    expect([method, headers, await status(method, headers)]).toEqual([method, headers, 403])
  expect(await status('GET', {})).toBe(200)
  expect(await status('GET', { 'sec-fetch-site': 'none' })).toBe(200)
  expect(await status('GET', PAGE)).toBe(200)
  // Let in, and then there is no such workspace.
  expect(await status('POST', PAGE)).toBe(404)
  expect(await status('POST', { host: HOST, origin: `http://${HOST}` })).toBe(404)
  // The cookie of a gateway at another port is not accepted.
  expect((await call('GET', '/sessions', { cookie: cookie.replace('7646', '7647') })).status).toBe(401)
})

test('it is a named token: listed, revoked, in the audit log, and expires by itself', async () => {
  const { gateway, clock, call, login } = await browser()
  const [first, second] = [await login(), await login()]
  const read = async ({ cookie }: { cookie: string }): Promise<number> =>
    (await call('GET', '/sessions', { cookie, ...PAGE })).status
  expect(await gateway.tokens.list()).toMatchObject([
    { name: first.name, scope: 'admin', expiresAt: '2026-11-22T12:00:00.000Z' },
    { name: second.name, scope: 'admin' },
  ])
  await gateway.tokens.revoke(first.name)
  expect([await read(first), await read(second)]).toEqual([401, 200])
  const stream = await gateway.app.request(`http://${HOST}/events`, {
    headers: { cookie: second.cookie, accept: 'text/event-stream', ...PAGE },
  })
  expect(stream.status).toBe(200)
  const text = stream.text()
  clock.advance(12 * HOUR)
  await text
  expect(await read(second)).toBe(401)
  expect(await gateway.tokens.list()).toEqual([])
  // A change forgets it, and its name is free.
  await gateway.tokens.create({ name: second.name, scope: 'read' })
  expect(await readFile(homeLayout(gateway.home).tokens, 'utf8')).not.toContain('expiresAt')
  await gateway.close()
  const audit = await readFile(`${homeLayout(gateway.home).logs}/audit.jsonl`, 'utf8')
  expect(audit).toMatch(new RegExp(`"token-create".*"${first.name}"`))
  expect(audit).not.toMatch(/agp_[ct]_/)
})

test('it holds in the next gateway of the home, as other tokens do', async () => {
  const { gateway, clock, login } = await browser()
  const { cookie } = await login()
  await gateway.close()
  const next = await testGateway({ home: gateway.home, clock })
  const answer = await next.app.request(`http://${HOST}/sessions`, { headers: { cookie, ...PAGE } })
  expect(answer.status).toBe(200)
})

test('a listener for the machine’s own accepts no cookie', async () => {
  const { gateway, login } = await browser()
  const { cookie } = await login()
  const request = new Request(`http://${HOST}/sessions`, { headers: { cookie, ...PAGE } })
  expect((await gateway.app.fetch(request, { rejectNamedTokens: true })).status).toBe(403)
})

test('12.A8 a code ends with the token that made it', async () => {
  const { gateway, call } = await browser()
  const codeOf = async ({ token }: { readonly token: string }): Promise<string> =>
    String((await call('POST', '/auth/code', { authorization: `Bearer ${token}` })).body['path'])
  const codes: string[] = []
  for (const name of ['a', 'b', 'c']) codes.push(await codeOf(await gateway.tokens.create({ name, scope: 'admin' })))
  await gateway.tokens.revoke('a')
  await gateway.tokens.rotate('b')
  const statuses: number[] = []
  for (const path of codes) statuses.push((await call('GET', path)).status)
  expect(statuses).toEqual([401, 401, 200])
})

test('15.6 a browser logs out: its cookie is deleted and worthless, and what it created stays', async () => {
  const { gateway, call, login } = await browser()
  const { cookie, name } = await login()
  const own = { cookie, ...PAGE }
  const by = gateway.tokens
  const made = await gateway.app.request(`http://${HOST}/tokens`, {
    method: 'POST',
    headers: { ...own, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'made', scope: 'read' }),
  })
  expect(made.status).toBe(201)
  expect((await call('POST', '/auth/logout', { cookie, host: HOST })).status).toBe(403)
  const { status, body, headers } = await call('POST', '/auth/logout', own)
  expect({ status, body }).toEqual({ status: 200, body: { ok: true, name } })
  expect(headers.get('set-cookie')).toMatch(/^agentproto_7646=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/)
  expect((await call('GET', '/sessions', own)).status).toBe(401)
  expect((await call('POST', '/auth/logout', own)).status).toBe(401)
  expect((await by.list()).map((each) => [each.name, each.createdBy])).toEqual([['made', undefined]])
})

test('15.6 a program does not lose its token to the logout of browsers, nor does the owner or an agent', async () => {
  const { gateway, call } = await browser()
  const { token } = await gateway.tokens.create({ name: 'ci', scope: 'read' })
  for (const each of [token, gateway.token])
    expect(await call('POST', '/auth/logout', { authorization: `Bearer ${each}` })).toMatchObject({
      status: 404,
      body: { code: 'token_not_found' },
    })
  expect((await call('GET', '/sessions', { authorization: `Bearer ${token}` })).status).toBe(200)
})

test('15.6 the gateway says what it is, to who administers it', async () => {
  const budgets = { day: { turns: 5 }, workspaces: { shop: { total: { tokens: 7 } } } }
  const home = await temporaryHome()
  const gateway = await testGateway({ home, sessions: { budgets } })
  const get = async (token: string): Promise<Response> =>
    gateway.app.request(`http://${HOST}/gateway`, { headers: { host: HOST, authorization: `Bearer ${token}` } })
  const answer = await get(gateway.token)
  expect(await answer.json()).toMatchObject({ home, budgets, node: process.versions.node, version: expect.any(String) })
  const { token } = await gateway.tokens.create({ name: 'ci', scope: 'operate' })
  expect((await get(token)).status).toBe(403)
})
