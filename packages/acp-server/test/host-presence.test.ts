import { AgentprotoError, type Session } from '@agentproto/contracts'
import { expect, test, vi } from 'vitest'
import { connectedClient, type TestClient } from './acp-client.ts'
import { FakeSessions } from './fake-sessions.ts'

// Sessions of another host of a fleet, which is lost and comes back.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 20_000 })

const NUMBERED = { session: { notices: {} }, _meta: { agentproto: { events: true } } }
const PERMISSION = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 'c1', title: 'Write' },
  options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }],
} as never
const LOST = new AgentprotoError('host_unreachable', 'The host is not heard from', { data: { retryAfter: 5 } })

interface World {
  readonly client: TestClient
  readonly sessions: FakeSessions
  readonly lose: () => void
  /** @param host Where it goes on */
  readonly find: (host?: string) => void
}

async function farSession(): Promise<World> {
  const sessions = new FakeSessions()
  const record: { hostId: string; state: Session['state'] } = { hostId: 'far', state: 'idle' }
  sessions.add('s1', record)
  const client = await connectedClient({ sessions, capabilities: NUMBERED })
  await resume(client)
  await until(() => sessions.watchers === 1)
  const change = (to: Partial<typeof record>): void => {
    Object.assign(record, to)
    sessions.publish('s1')
  }
  return {
    client,
    sessions,
    lose: () => change({ state: 'unreachable' }),
    find: (hostId = 'far') => change({ state: 'idle', hostId }),
  }
}

const resume = ({ agent }: TestClient): Promise<unknown> =>
  agent.request('session/resume', { sessionId: 's1', cwd: '/work', mcpServers: [] })

const prompt = ({ agent }: TestClient): Promise<unknown> =>
  agent.request('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'hi' }] })

const notices = ({ updates }: TestClient): string[] =>
  updates.flatMap(({ update }) => (update.sessionUpdate === 'notice' ? [`${update.severity}: ${update.title}`] : []))

const AWAY = 'warning: The host far is not heard from; the session goes on when it is back'

test('17.4 the host of a turn is lost: its prompt is answered, the client is told, and it gets the rest when the host is back', async () => {
  const { client, sessions, lose, find } = await farSession()
  const turn = prompt(client)
  await until(() => sessions.the('s1').busy)
  lose()
  await expect(turn).rejects.toMatchObject({
    data: { code: 'host_unreachable', retryable: true, host: 'far', retryAfter: 5 },
  })
  await until(() => notices(client).length === 1)
  lose()
  find()
  sessions.the('s1').says({ type: 'text-delta', text: 'the rest' })
  sessions.the('s1').ends('end_turn')
  await until(() => client.lines.some((line) => line.includes('_agentproto/turn_ended')))
  expect(notices(client)).toEqual([AWAY, 'info: The session goes on, on the host far'])
  expect(client.lines.join('\n')).toContain('the rest')
  const next = prompt(client)
  await until(() => sessions.the('s1').busy)
  sessions.the('s1').ends('end_turn')
  expect(await next).toMatchObject({ stopReason: 'end_turn' })
})

test('17.4 who opens a session whose host is lost is told so, and where it goes on', async () => {
  const { client, sessions, lose, find } = await farSession()
  lose()
  await client.agent.request('session/close', { sessionId: 's1' })
  await until(() => sessions.watchers === 0)
  const late = await connectedClient({ sessions, capabilities: NUMBERED })
  await resume(late)
  await until(() => notices(late).length === 1)
  find('other')
  await until(() => notices(late).length === 2)
  expect(notices(late)).toEqual([AWAY, 'info: The session goes on, on the host other'])
})

test('17.4 a watch that was too far behind and ended is begun again, and what changed meanwhile is found', async () => {
  const { client, sessions, lose } = await farSession()
  sessions.cut()
  await until(() => sessions.watchers === 0)
  lose()
  sessions.changes.length = 0
  await until(() => notices(client).length === 1)
  expect(notices(client)).toEqual([AWAY])
  expect(sessions.watchers).toBe(1)
})

test('17.4 an answer that does not reach the host is asked for again when the host is back, and a cancel is reported', async () => {
  const { client, sessions, lose, find } = await farSession()
  const turn = prompt(client)
  turn.catch(() => undefined)
  await until(() => sessions.the('s1').busy)
  sessions.the('s1').asks('r1', PERMISSION)
  await until(() => client.asked.length === 1)
  lose()
  await expect(turn).rejects.toMatchObject({ data: { code: 'host_unreachable' } })
  const failing = vi.spyOn(sessions, 'answer').mockRejectedValue(LOST)
  const unheard = vi.spyOn(sessions, 'interrupt').mockRejectedValue(LOST)
  client.asked[0]?.answer({ outcome: { outcome: 'selected', optionId: 'yes' } })
  await until(() => client.problems.length === 1)
  await client.agent.notify('session/cancel', { sessionId: 's1' })
  await until(() => notices(client).length === 2)
  expect(notices(client)[1]).toMatch(/^warning: Not cancelled: The host is not heard from/)
  failing.mockRestore()
  unheard.mockRestore()
  find()
  await until(() => client.asked.length === 2)
  client.asked[1]?.answer({ outcome: { outcome: 'selected', optionId: 'yes' } })
  await until(() => sessions.the('s1').requests[0]?.state === 'resolved')
  expect(client.asked).toHaveLength(2)
})

test('17.4 sessions of this host are not watched, and no longer those that a client has closed', async () => {
  const { client, sessions } = await farSession()
  await client.agent.request('session/close', { sessionId: 's1' })
  await until(() => sessions.watchers === 0)
  sessions.add('s2', { hostId: 'near' })
  await client.agent.request('session/resume', { sessionId: 's2', cwd: '/work', mcpServers: [] })
  await client.agent.request('session/list', {})
  expect(sessions.watchers).toBe(0)
})

test('17.4 a list says which sessions are of a host that is lost', async () => {
  const { client, lose } = await farSession()
  const meta = async (): Promise<unknown> => {
    const [{ _meta: of } = {}] = (await client.agent.request('session/list', {})).sessions
    return of
  }
  expect(await meta()).toEqual({ agentproto: { adapter: 'demo', status: 'running' } })
  lose()
  expect(await meta()).toEqual({ agentproto: { adapter: 'demo', status: 'running', state: 'unreachable' } })
})

/** A session of a lost host whose record counts `counted` events, while three of its log can be read. */
async function lostSession(counted: number) {
  const { client, sessions, lose, find } = await farSession()
  const session = sessions.the('s1')
  for (const text of ['a', 'b', 'c']) session.says({ type: 'text-delta', text })
  lose()
  const record = sessions.get.bind(sessions)
  // A record counts a question later than the log has it.
  const stale = { lastSeq: counted, pendingRequests: 0 }
  vi.spyOn(sessions, 'get').mockImplementation(async (id) => ({ ...(await record(id)), ...stale }))
  const back = await connectedClient({ sessions, capabilities: NUMBERED })
  client.leave()
  return { back, session, find }
}

const texts = ({ updates }: TestClient): string =>
  updates.flatMap(({ update }) => ('content' in update ? [(update.content as { text: string }).text] : [])).join('')

const LOAD = { sessionId: 's1', cwd: '/work', mcpServers: [] }

test.each([
  ['fewer events than can be read', 1],
  ['more events than can be read', 5],
])('17.4 the record of a lost host counts %s: who comes back gets each event once', async (_, counted) => {
  for (const [after, expected] of [
    [0, 'abc'],
    [2, 'c'],
    [3, ''],
  ] as const) {
    const { back, session } = await lostSession(counted)
    const loaded = await back.agent.request('session/load', { ...LOAD, _meta: { agentproto: { after } } })
    expect(loaded).toMatchObject({ _meta: { agentproto: { seq: 3 } } })
    expect(texts(back)).toBe(expected)
    for (const text of ['d', 'e', 'f']) session.says({ type: 'text-delta', text })
    await until(() => texts(back) === `${expected}def`)
  }
})

test.each([1, 5])(
  '17.4 who resumes a session of a lost host gets no history, and what comes (%i counted)',
  async (counted) => {
    const { back, session } = await lostSession(counted)
    await back.agent.request('session/resume', LOAD)
    for (const text of ['d', 'e', 'f']) session.says({ type: 'text-delta', text })
    await until(() => texts(back).endsWith('f'))
    expect(texts(back)).toBe('def')
  },
)

test('17.4 a client that has more events than can be read of a lost host gets none of them again', async () => {
  const { back, session } = await lostSession(1)
  await back.agent.request('session/load', { ...LOAD, _meta: { agentproto: { after: 5 } } })
  for (const text of ['d', 'e', 'f']) session.says({ type: 'text-delta', text })
  await until(() => texts(back) !== '')
  expect(texts(back)).toBe('f')
})

test('17.4 a question that is only in the log of the lost host, before what the client has seen, is asked when the host is back', async () => {
  const { back, session, find } = await lostSession(3)
  await back.agent.request('session/load', { ...LOAD, _meta: { agentproto: { after: 5 } } })
  await until(() => notices(back).length === 1)
  session.asks('r1', PERMISSION)
  session.says({ type: 'text-delta', text: 'e' })
  find()
  await until(() => back.asked.length === 1)
  session.says({ type: 'text-delta', text: 'f' })
  await until(() => texts(back) === 'f')
  expect(back.asked).toHaveLength(1)
})

test('17.4 a question that the log of a lost host has, and its record does not count, is asked once', async () => {
  const { back, session } = await lostSession(3)
  session.asks('r1', PERMISSION)
  await back.agent.request('session/load', { ...LOAD, _meta: { agentproto: { after: 3 } } })
  await until(() => back.asked.length === 1)
  session.says({ type: 'text-delta', text: 'f' })
  await until(() => texts(back) === 'f')
  expect(back.asked).toHaveLength(1)
})
