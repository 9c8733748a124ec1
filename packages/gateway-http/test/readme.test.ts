import { systemClock } from '@agentproto/contracts'
import { createHttpApp } from '@agentproto/gateway-http'
import { expect, test } from 'vitest'
import { fakeAdapters, fakeWorkspaces } from './fake-gateway.ts'
import { FakeSessions } from './fake-sessions.ts'

test('the example of the README', async () => {
  const [sessions, adapters, workspaces, secret] = [new FakeSessions(), fakeAdapters, fakeWorkspaces(), 'secret']
  const app = createHttpApp({
    sessions,
    adapters,
    workspaces,
    clock: systemClock,
    version: '0.1.0',
    authenticate: (token) => (token === secret ? { type: 'owner', name: 'me' } : undefined),
  })
  const response = await app.request('/sessions', { headers: { authorization: `Bearer ${secret}` } })
  expect(await response.json()).toEqual({ sessions: [] })
})
