import type { Session } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { connected } from './connected.ts'

interface Waited {
  readonly sessions: readonly (Pick<Session, 'id' | 'state'> & { readonly requests?: readonly unknown[] })[]
}

/** s1 and s2 are busy; s3 waits for an answer. */
async function busy() {
  const gateway = await connected()
  for (const prompt of ['hang', 'hang']) await gateway.tool('start_agent_session', { adapter: 'demo', prompt })
  const wait = async (sessionIds: readonly string[]): Promise<Waited> =>
    (await gateway.tool('wait_for_sessions', { sessionIds: [...sessionIds] })) as unknown as Waited
  return { ...gateway, wait }
}

test('13.7 a wait for several sessions ends with the first that is not busy any more', async () => {
  const { tool, wait } = await busy()
  const waiting = wait(['s1', 's2'])
  await tool('interrupt_agent_session', { sessionId: 's2' })
  const { sessions } = await waiting
  expect(sessions.map(({ id }) => id)).toEqual(['s1', 's2'])
  expect(sessions[0]).toMatchObject({ state: 'busy' })
  expect(sessions[1]?.state).not.toBe('busy')
})

test('13.7 one that waits for an answer ends the wait at once, with its requests; so does the end of the time', async () => {
  const { tool, wait, clock } = await busy()
  await tool('start_agent_session', { adapter: 'demo', prompt: 'ask' })
  const { sessions } = await wait(['s1', 's3', 's3'])
  expect(sessions).toMatchObject([
    { id: 's1', state: 'busy' },
    { id: 's3', state: 'waiting', requests: [{ requestId: 'r1' }] },
  ])
  const ticking = setInterval(() => clock.advance(1_000), 5)
  const timed = await wait(['s1', 's2']).finally(() => clearInterval(ticking))
  expect(timed.sessions.map(({ state }) => state)).toEqual(['busy', 'busy'])
})

test('13.7 an unknown session among them is an error, and nothing is waited for', async () => {
  const { tool } = await busy()
  expect(await tool('wait_for_sessions', { sessionIds: ['s1', 's9'] })).toMatchObject({ code: 'session_not_found' })
  expect(await tool('wait_for_sessions', { sessionIds: [] })).toMatchObject({ code: 'invalid_request' })
})

test('13.7 the changes of a session, with the patch of one file where that is asked for', async () => {
  const { tool } = await busy()
  const changes = await tool('get_session_changes', { sessionId: 's1' })
  expect(changes).toMatchObject({ files: [{ path: 'a.txt', status: 'added' }], shared: false })
  expect(changes).not.toHaveProperty('patch')
  const { patch } = await tool('get_session_changes', { sessionId: 's1', turn: 1, patch: 'a.txt' })
  expect(patch).toContain('diff --git')
})
