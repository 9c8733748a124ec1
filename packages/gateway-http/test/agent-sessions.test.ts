import { expect, test } from 'vitest'
import { fakeGateway, OWNER } from './fake-gateway.ts'

// The agent-scoped view: the handlers of /sessions below /agents/:agent/sessions, seeing that agent's sessions alone.

test('POST /agents/:agent/sessions starts a session of that agent', async () => {
  const { call, sessions } = fakeGateway()
  const response = await call('POST', '/agents/demo/sessions', { cwd: '/work/a', title: 'Auth refactor' })
  expect(response.status).toBe(201)
  expect(response.headers.get('location')).toBe('../../sessions/s1')
  expect(await response.json()).toMatchObject({ id: 's1', adapterSlug: 'demo' })
  expect(sessions.calls[0]).toEqual(['spawn', { adapter: 'demo', cwd: '/work/a', title: 'Auth refactor' }, OWNER])
  expect((await call('POST', '/agents/demo/sessions', { adapter: 'other' })).status).toBe(400)
})

test('GET /agents/:agent/sessions lists those of that agent, with the filters of /sessions', async () => {
  const { call, sessions } = fakeGateway()
  await call('GET', '/agents/demo/sessions?status=running&limit=5')
  expect(sessions.calls).toEqual([['list', { status: 'running', limit: 5, adapter: 'demo' }]])
})

test('an agent that there is not is 404, whatever is asked of it', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  for (const path of ['/agents/unknown/sessions', '/agents/unknown/sessions/s1', '/agents/unknown/sessions/s1/turns']) {
    expect(await (await call('GET', path)).json(), path).toMatchObject({ code: 'adapter_not_found', status: 404 })
  }
})

test('a session of another agent is not found below this one', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const found = sessions.all.get('s1')
  if (found) found.session = { ...found.session, adapterSlug: 'other' }
  expect(await (await call('GET', '/agents/demo/sessions/s1')).json()).toMatchObject({ code: 'session_not_found' })
  expect((await call('DELETE', '/agents/demo/sessions/s1')).status).toBe(404)
  expect((await call('POST', '/agents/demo/sessions/s1/prompt', { prompt: 'x' })).status).toBe(404)
  expect(sessions.all.size).toBe(1)
})

test('GET, prompt, cancel, config and DELETE of /agents/:agent/sessions/:id are those of /sessions/:id', async () => {
  const { call } = fakeGateway()
  await call('POST', '/agents/demo/sessions', { prompt: 'hang' })
  const at = '/agents/demo/sessions/s1'
  expect(await (await call('GET', at)).json()).toMatchObject({ id: 's1' })
  expect(await (await call('POST', `${at}/cancel`)).json()).toEqual({ ok: true, id: 's1', wasBusy: true })
  const prompted = await call('POST', `${at}/prompt`, { prompt: 'add tests', wait: true })
  expect(await prompted.json()).toMatchObject({ ok: true, turn: 2, result: { text: 'the answer' } })
  expect(await (await call('POST', `${at}/config`, { mode: 'plan' })).json()).toMatchObject({
    config: { modeId: 'plan' },
  })
  expect(await (await call('DELETE', at)).json()).toEqual({ ok: true, id: 's1' })
})

test('below an agent is every route of a session', () => {
  const { routes } = fakeGateway().app
  const below = (base: string): string[] =>
    routes.flatMap(({ method, path }) =>
      path.startsWith(`${base}/:id`) ? [`${method} ${path.slice(base.length)}`] : [],
    )
  const scoped = below('/agents/:agent/sessions').filter((route) => route !== 'ALL /:id/*')
  expect(scoped).toEqual(below('/sessions'))
})
