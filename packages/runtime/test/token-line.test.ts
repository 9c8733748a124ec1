import { readFile } from 'node:fs/promises'
import { homeLayout } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.js'
import { servedGateway } from './fixtures/served-gateway.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// 12.A8: tokens that a token created end with it, or are named.

async function opened() {
  const served = await servedGateway()
  const { call } = served
  const create = async (name: string, token?: string, scope = 'admin'): Promise<string> => {
    const { status, body } = await call('POST /tokens', { name, scope }, token)
    expect([status, body['name']]).toEqual([201, name])
    return String(body['token'])
  }
  const statusOf = async (token: string): Promise<number> => (await call('GET /sessions', undefined, token)).status
  const names = async (): Promise<readonly unknown[]> =>
    (await served.gateway.tokens.list()).map(({ name, createdBy }) => [name, createdBy])
  return { ...served, create, statusOf, names }
}

/** A browser that logged in with a code of a token. */
async function cookieOf(url: string, token: string): Promise<string> {
  const code = await fetch(`${url}/auth/code`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  const { path } = (await code.json()) as { path: string }
  return (await fetch(`${url}${path}`)).headers.get('set-cookie')?.split(';')[0] ?? ''
}

test('12.A8 revoking a token ends what it created, through others and browsers too, and says so', async () => {
  const { url, call, create, statusOf, names, gateway, home } = await opened()
  const maker = await create('maker')
  const middle = await create('middle', maker)
  const last = await create('last', middle, 'read')
  const other = await create('other')
  const cookie = await cookieOf(url, middle)
  const page = { headers: { cookie, origin: url } }
  expect((await fetch(`${url}/sessions`, page)).status).toBe(200)
  const browser = String(
    (await names()).map((each) => (each as string[])[0]).find((name) => name?.startsWith('browser')),
  )
  expect(await names()).toEqual([
    ['maker', undefined],
    ['middle', 'maker'],
    ['last', 'middle'],
    ['other', undefined],
    [browser, 'middle'],
  ])
  const revoked = await call('DELETE /tokens/maker')
  expect(revoked.body).toEqual({ ok: true, name: 'maker', ended: ['middle', 'last', browser], kept: [] })
  expect([await statusOf(maker), await statusOf(middle), await statusOf(last), await statusOf(other)]).toEqual([
    401, 401, 401, 200,
  ])
  expect((await fetch(`${url}/sessions`, page)).status).toBe(401)
  await gateway.close()
  const audit = await readFile(`${homeLayout(home).logs}/audit.jsonl`, 'utf8')
  expect(audit).toMatch(new RegExp(`"token-revoke".*"ended":\\["middle","last","${browser}"\\]`))
})

test('12.A8 a rotated token ends what it created, too; with keepCreated they stay, and still end with it later', async () => {
  const { call, create, statusOf, names } = await opened()
  const maker = await create('maker')
  const made = await create('made', maker, 'read')
  const kept = await call('POST /tokens/maker/rotate', { keepCreated: true })
  expect(kept.body).toMatchObject({ name: 'maker', ended: [], kept: ['made'] })
  expect([await statusOf(maker), await statusOf(made)]).toEqual([401, 200])
  expect(await names()).toContainEqual(['made', 'maker'])
  expect((await call('POST /tokens/maker/rotate', {})).body).toMatchObject({ ended: ['made'], kept: [] })
  expect(await statusOf(made)).toBe(401)
})

test('12.A8 what is kept after a revocation belongs to the creator of the creator', async () => {
  const { call, create, statusOf, names } = await opened()
  const maker = await create('maker')
  const middle = await create('middle', maker)
  const last = await create('last', middle, 'read')
  expect((await call('DELETE /tokens/middle?keepCreated=true')).body).toMatchObject({ ended: [], kept: ['last'] })
  expect([await statusOf(last), await names()]).toEqual([
    200,
    [
      ['maker', undefined],
      ['last', 'maker'],
    ],
  ])
  expect((await call('DELETE /tokens/maker')).body).toMatchObject({ ended: ['last'] })
  expect(await statusOf(last)).toBe(401)
})

test('12.A8 streams of what a token created end with it, and the next gateway of the home knows the line', async () => {
  const { url, gateway, home, create } = await opened()
  const maker = await create('maker')
  const made = await create('made', maker, 'read')
  const stream = await fetch(`${url}/events`, { headers: { authorization: `Bearer ${made}` } })
  expect(stream.status).toBe(200)
  const text = stream.text()
  const again = await create('again', maker)
  await gateway.tokens.revoke('made')
  await text
  await gateway.close()
  const next = await testGateway({ home })
  expect(await next.tokens.revoke('maker')).toEqual({ ended: ['again'], kept: [] })
  const headers = { authorization: `Bearer ${again}`, host: 'localhost' }
  expect((await next.app.request('/sessions', { headers })).status).toBe(401)
})

test('12.A8 a browser that expires leaves what it created to its creator', async () => {
  const home = await temporaryHome()
  const clock = new FakeClock()
  const gateway = await testGateway({ home, clock })
  const request = async (path: string, init: RequestInit): Promise<Response> =>
    gateway.app.request(`http://localhost${path}`, init)
  const { token } = await gateway.tokens.create({ name: 'admin', scope: 'admin' })
  const code = await request('/auth/code', { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  const login = await request(((await code.json()) as { path: string }).path, {})
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  const made = await request('/tokens', {
    method: 'POST',
    headers: { cookie, origin: 'http://localhost', host: 'localhost', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ci', scope: 'read' }),
  })
  expect(made.status).toBe(201)
  clock.advance(12 * 60 * 60 * 1_000)
  expect((await gateway.tokens.list()).map(({ name, createdBy }) => [name, createdBy])).toEqual([
    ['admin', undefined],
    ['ci', 'admin'],
  ])
  expect(await gateway.tokens.revoke('admin')).toEqual({ ended: ['ci'], kept: [] })
})

test('12.A8 one caller’s unused codes keep no other caller from logging in', async () => {
  const { url, gateway, create } = await opened()
  const admin = await create('admin')
  const codeStatus = async (token: string): Promise<number> =>
    (await fetch(`${url}/auth/code`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status
  for (let made = 0; made < 16; made++) await codeStatus(admin)
  expect([await codeStatus(admin), await codeStatus(gateway.token)]).toEqual([429, 201])
})
