import { expect, test } from 'vitest'
import { fakeGateway, OWNER } from './fake-gateway.ts'

test('POST /sessions/:id/config sets mode, model and options and answers with the session', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const response = await call('POST', '/sessions/s1/config', { mode: 'plan', model: 'm2', options: { effort: 'high' } })
  expect(await response.json()).toMatchObject({ id: 's1', config: { modeId: 'plan', modelId: 'm2' } })
  const asked = { mode: 'plan', model: 'm2', options: { effort: 'high' } }
  expect(sessions.calls.at(-1)).toEqual(['configure', 's1', asked, OWNER])
})

test('what the agent does not offer, and a change of nothing, are refused', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const unknown = await call('POST', '/sessions/s1/config', { mode: 'loud' })
  expect([unknown.status, await unknown.json()]).toMatchObject([422, { code: 'mode_unknown', given: 'loud' }])
  const nothing = await call('POST', '/sessions/s1/config', {})
  expect(await nothing.json()).toMatchObject({
    code: 'invalid_request',
    expected: 'a mode, a model, options or a permissionMode',
  })
  await call('POST', '/sessions/s1/kill')
  expect((await call('POST', '/sessions/s1/config', { mode: 'plan' })).status).toBe(409)
})

test('POST /sessions/:id/fork answers 201 with the new session', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const response = await call('POST', '/sessions/s1/fork', { title: 'another way', prompt: 'go on' })
  expect([response.status, response.headers.get('location')]).toEqual([201, '../../sessions/s2'])
  expect(await response.json()).toMatchObject({ id: 's2', forkedFrom: 's1' })
  expect(sessions.calls.find(([name]) => name === 'fork')).toEqual([
    'fork',
    's1',
    { title: 'another way', prompt: 'go on' },
    OWNER,
  ])
})

test('a fork that the agent cannot do is 501 not_supported', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', label: 'unforkable' })
  const response = await call('POST', '/sessions/s1/fork')
  expect([response.status, await response.json()]).toMatchObject([501, { code: 'not_supported' }])
})
