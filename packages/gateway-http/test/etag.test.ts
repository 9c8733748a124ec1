import { expect, test } from 'vitest'
import { fakeGateway } from './fake-gateway.ts'

const READS = ['/sessions', '/sessions/s1', '/sessions/s1/turns', '/requests', '/workspaces', '/adapters']

test('a list or a session that is known already is answered 304 without a body, until it changes', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  for (const path of READS) {
    const first = await call('GET', path)
    const etag = first.headers.get('etag') ?? ''
    expect(etag, path).toMatch(/^"[\w-]{27}"$/)
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
