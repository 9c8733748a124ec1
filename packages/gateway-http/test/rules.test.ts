import { expect, test } from 'vitest'
import { fakeGateway, OWNER } from './fake-gateway.ts'
import { fakePermissions, rule } from './fake-permissions.ts'

test.each([
  ['/sessions/s1', { sessionId: 's1' }],
  ['/workspaces/web', { workspaceSlug: 'web' }],
])('rules of %s are listed, added and removed', async (at, scope) => {
  const { permissions, calls } = fakePermissions()
  const { call } = fakeGateway({ permissions })
  expect(await (await call('GET', `${at}/rules`)).json()).toEqual({ rules: [rule] })
  const added = await call('POST', `${at}/rules`, { decision: 'deny', command: 'git push **' })
  expect([added.status, await added.json()]).toEqual([201, rule])
  expect(await (await call('DELETE', `${at}/rules/pr_1`)).json()).toEqual({ ok: true, ruleId: 'pr_1' })
  expect((await call('DELETE', `${at}/rules/pr_2`)).status).toBe(404)
  expect(calls).toEqual([
    ['rules', scope],
    ['addRule', scope, { decision: 'deny', command: 'git push **' }, OWNER],
    ['removeRule', scope, 'pr_1', OWNER],
    ['removeRule', scope, 'pr_2', OWNER],
  ])
  const wrong = await call('POST', `${at}/rules`, { decision: 'maybe', command: 'x' })
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { code: 'invalid_request', field: 'decision' }])
})

test('a gateway without rules has no routes for them', async () => {
  const { call } = fakeGateway()
  expect((await call('GET', '/sessions/s1/rules')).status).toBe(404)
})

test('a rule of a workspace has no lifetime of its own: one that says "once" is refused, not made for good', async () => {
  const { permissions, calls } = fakePermissions()
  const { call } = fakeGateway({ permissions })
  const once = { decision: 'allow', command: 'git push', lifetime: 'once' }
  expect((await call('POST', '/sessions/s1/rules', once)).status).toBe(201)
  const refused = await call('POST', '/workspaces/web/rules', once)
  expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_request', field: 'lifetime' }])
  expect(calls.filter(([name]) => name === 'addRule')).toHaveLength(1)
})
