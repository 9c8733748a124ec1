import type { ProvisionEvent } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { fakeAdapters, fakeGateway } from './fake-gateway.ts'
import { readMessages } from './read-messages.ts'

const SSE = { accept: 'text/event-stream' }

test('install answers with the state, or streams what happens', async () => {
  const { call } = fakeGateway()
  const whole = await call('POST', '/adapters/demo/install', {})
  expect([whole.status, await whole.json()]).toMatchObject([200, { slug: 'demo', ready: true }])
  const streamed = await call('POST', '/adapters/demo/install', {}, SSE)
  expect(await readMessages(streamed)).toMatchObject([
    { event: 'phase', data: { phase: 'install', state: 'started' } },
    { event: 'state', data: { state: { ready: true } } },
  ])
})

test('a setup that needs a person reports what it needs, as JSON and as a stream', async () => {
  const { call } = fakeGateway()
  const whole = await call('POST', '/adapters/demo/setup')
  expect([whole.status, await whole.json()]).toMatchObject([424, { code: 'setup_required', pending: [{ id: 'url' }] }])
  const streamed = await readMessages(await call('POST', '/adapters/demo/setup', {}, SSE))
  expect(streamed.at(-1)).toMatchObject({
    event: 'problem',
    data: { code: 'setup_required', pending: [{ id: 'url' }] },
  })
  const given = await call('POST', '/adapters/demo/setup', { inputs: { url: 'http://x' } })
  expect(given.status).toBe(200)
})

test('18.1 adding and updating an agent answer with its adapter, or stream what happens', async () => {
  const { call } = fakeGateway()
  for (const path of ['/registry/agents/sample', '/adapters/demo/update']) {
    const whole = await call('POST', path, {})
    expect([whole.status, await whole.json()]).toMatchObject([200, { adapter: {}, state: { ready: true } }])
    const streamed = await readMessages(await call('POST', path, {}, SSE))
    expect(streamed.map(({ event }) => event)).toEqual(['plan', 'added'])
  }
})

test('18.1 an agent that cannot be looked up has a status of its own, also as a stream', async () => {
  const { call } = fakeGateway()
  const refused = await call('POST', '/registry/agents/unknown', {}, SSE)
  expect([refused.status, await refused.json()]).toMatchObject([404, { code: 'adapter_not_found' }])
})

test('18.2 a client that leaves while an agent is added cancels it', async () => {
  let cancelled: AbortSignal | undefined
  const { call } = fakeGateway({
    adapters: {
      ...fakeAdapters,
      async *addAgent(_id, { signal }) {
        cancelled = signal
        yield { type: 'warning', message: 'it takes long' }
        await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      },
    },
  })
  const response = await call('POST', '/registry/agents/sample', {}, SSE)
  expect(cancelled?.aborted).toBe(false)
  await response.body?.cancel()
  expect(cancelled?.aborted).toBe(true)
})

test('the doctor answers with a report, or streams its findings', async () => {
  const { call } = fakeGateway()
  expect(await (await call('POST', '/adapters/demo/doctor')).json()).toMatchObject({
    slug: 'demo',
    ok: true,
    checks: { length: 1 },
  })
  expect(await (await call('POST', '/adapters/demo/doctor', { live: true })).json()).toMatchObject({ ok: false })
  const streamed = await readMessages(await call('POST', '/adapters/demo/doctor', { live: true }, SSE))
  expect(streamed.map(({ event }) => event)).toEqual(['check', 'check', 'report'])
})

test('an adapter is added, its state returned, and secrets listed without a value', async () => {
  const { call } = fakeGateway()
  const added = await call('POST', '/adapters', { source: '/somewhere' })
  expect([added.status, added.headers.get('location')]).toEqual([201, 'adapters/demo'])
  expect(await (await call('GET', '/adapters/demo/state')).json()).toMatchObject({ auth: 'not_needed' })
  expect(await (await call('GET', '/secrets')).json()).toEqual({
    secrets: [{ slug: 'acme/key', kind: 'opaque', set: true, place: 'file', variables: ['ACME_KEY'] }],
  })
})

test.each([
  ['/adapters/unknown/install', {}, 404, 'adapter_not_found'],
  ['/adapters/unknown/doctor', {}, 404, 'adapter_not_found'],
  ['/adapters/demo/install', { until: 'login' }, 400, 'invalid_request'],
  ['/adapters/demo/setup', { inputs: { url: { deep: 1 } } }, 400, 'invalid_request'],
  ['/adapters', {}, 400, 'invalid_request'],
] as const)('POST %s with %j is refused', async (path, body, status, code) => {
  const response = await fakeGateway().call('POST', path, body)
  expect([response.status, await response.json()]).toMatchObject([status, { code }])
})

test('F1 a client that leaves the stream of an install does not end the install', async () => {
  const did: string[] = []
  let go: () => void = () => undefined
  const held = new Promise<void>((resolve) => (go = resolve))
  async function* provision(): AsyncGenerator<ProvisionEvent> {
    yield { type: 'phase', phase: 'install', state: 'started' }
    await held
    did.push('installed')
    yield { type: 'phase', phase: 'install', state: 'done' }
    did.push('checked')
  }
  const { call } = fakeGateway({ adapters: { ...fakeAdapters, provision } })
  const response = await call('POST', '/adapters/demo/install', {}, SSE)
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  go()
  await expect.poll(() => did).toEqual(['installed', 'checked'])
})

test('an icon is an image that can do nothing, also as a page of its own', async () => {
  const { call } = fakeGateway()
  const response = await call('GET', '/adapters/demo/icon')
  expect(response.status).toBe(200)
  expect(await response.text()).toMatch(/^<svg /)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/svg+xml; charset=utf-8',
    'content-security-policy': "sandbox; default-src 'none'; style-src 'none'",
    'x-content-type-options': 'nosniff',
  })
  const none = await call('GET', '/adapters/other/icon')
  expect([none.status, await none.json()]).toMatchObject([404, { code: 'icon_not_found' }])
})
