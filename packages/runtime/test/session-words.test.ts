import { createClient } from '@agentproto/client'
import { expect, test } from 'vitest'
import { servedGateway } from './fixtures/served-gateway.js'

test('12.B4 HTTP, MCP and the client list sessions by their state, and a killed one is not woken by a prompt', async () => {
  const { gateway, url, spawn, session, call, tool, turnEnded } = await servedGateway()
  const client = createClient({ url, token: gateway.token })
  const [idle, asking, killed] = [await spawn(), await spawn({ prompt: 'ask note.txt hello' }), await spawn()]
  await call(`POST /sessions/${killed.id}/kill`)
  await expect.poll(async () => (await session(asking.id)).state).toBe('waiting')
  for (const [state, { id }] of [
    ['idle', idle],
    ['waiting', asking],
    ['ended', killed],
  ] as const) {
    expect((await call(`GET /sessions?state=${state}`)).body).toMatchObject({ sessions: [{ id, state }] })
    expect(await tool('list_agent_sessions', { state })).toMatchObject({ sessions: [{ id, state }] })
    expect(await client.sessions.list({ state })).toMatchObject({ sessions: [{ id, state }] })
  }
  expect(await call('GET /sessions?state=killed')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(await session(killed.id)).toMatchObject({ status: 'killed', attachable: false, wakeable: false })
  expect(await session(idle.id)).toMatchObject({ status: 'running', attachable: true, wakeable: false })
  const refused = { code: 'session_ended', detail: expect.stringContaining(`sessions resume ${killed.id}`) }
  expect(await call(`POST /sessions/${killed.id}/prompt`, { prompt: 'x' })).toMatchObject({
    status: 409,
    body: refused,
  })
  expect(await tool('prompt_agent_session', { sessionId: killed.id, prompt: 'x' })).toMatchObject(refused)
  expect(await call(`POST /sessions/${killed.id}/resume`, {})).toMatchObject({ status: 200, body: { state: 'idle' } })
  await call(`POST /sessions/${killed.id}/prompt`, { prompt: 'recall' })
  expect(await turnEnded(killed.id)).toMatchObject({ reason: 'end_turn' })
})
