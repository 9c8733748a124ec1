import { expect, test, vi } from 'vitest'
import { connectedClient, type TestClient } from './acp-client.ts'
import { FakeSessions } from './fake-sessions.ts'

// The extension of ACP with which a client continues exactly where its connection was cut; on every wire, and only when asked for.

const NUMBERED = { _meta: { agentproto: { events: true } }, session: { notices: {} } }

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 10_000 })

const messages = ({ lines }: TestClient): { method?: string; params?: Record<string, unknown>; id?: unknown }[] =>
  lines.map((line) => JSON.parse(line) as object)

const named = (client: TestClient, method: string): Record<string, unknown>[] =>
  messages(client).flatMap((message) => (message.method === method ? [message.params ?? {}] : []))

const seqs = (client: TestClient): unknown[] =>
  named(client, 'session/update').map(({ _meta: meta }) => (meta as { agentproto?: { seq: number } })?.agentproto?.seq)

const loading = (sessionId: string, after?: unknown): never =>
  ({
    sessionId,
    cwd: '/work',
    mcpServers: [],
    ...(after === undefined ? {} : { _meta: { agentproto: { after } } }),
  }) as never

const prompt = (client: TestClient, sessionId: string, text: string): Promise<{ stopReason: string }> =>
  client.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })

/** A session in its second turn: events 1 to 3 are its first turn, 4 to 6 what came of the second. */
function running(): FakeSessions {
  const sessions = new FakeSessions()
  const session = sessions.add('s1')
  session.begins([
    { type: 'text', text: 'one' },
    { type: 'text', text: 'and more' },
  ] as never)
  session.says({ type: 'text-delta', text: 'a' })
  session.ends('end_turn')
  session.begins([{ type: 'text', text: 'two' }])
  session.says({ type: 'text-delta', text: 'b' })
  session.says({ type: 'text-delta', text: 'c' })
  return sessions
}

test('a client that does not ask gets none of it', async () => {
  const client = await connectedClient({ sessions: running() })
  const answer = await client.agent.request('session/load', loading('s1', 4))
  expect(answer).toEqual({})
  const resumed = await client.agent.request('session/resume', loading('s1'))
  client.sessions.the('s1').asks('r1', {
    kind: 'permission',
    toolCall: { type: 'tool-call', toolCallId: 'c1' },
    options: [],
  } as never)
  await until(() => client.asked.length === 1)
  client.sessions.the('s1').ends('end_turn')
  expect(resumed).toEqual({})
  expect(client.lines.join('\n')).not.toContain('"_meta"')
  expect(client.updates.map(({ update }) => update.sessionUpdate)).toHaveLength(6)
})

test('the number of an event is on its last update; the answers say where the log is and which turn runs', async () => {
  const client = await connectedClient({ sessions: running(), capabilities: NUMBERED })
  expect(client.lines[0]).toContain('"agentCapabilities":{"loadSession":true')
  expect(JSON.parse(client.lines[0] ?? '')).toMatchObject({
    result: { agentCapabilities: { _meta: { agentproto: { events: true } } } },
  })
  const at = { _meta: { agentproto: { seq: 6, turn: { number: 2 } } } }
  expect(await client.agent.request('session/load', loading('s1'))).toEqual(at)
  expect(seqs(client)).toEqual([undefined, 1, 2, 4, 5, 6])
  expect(named(client, '_agentproto/turn_ended')).toEqual([
    { sessionId: 's1', turn: 1, stopReason: 'end_turn', _meta: { agentproto: { seq: 3, turn: 1 } } },
  ])
  expect(await client.agent.request('session/resume', loading('s1'))).toEqual(at)
  client.sessions.the('s1').says({ type: 'text-delta', text: 'd' })
  await until(() => seqs(client).at(-1) === 7)
  expect(await client.agent.request('session/new', { cwd: '/work', mcpServers: [] })).toMatchObject({
    _meta: { agentproto: { seq: 0 } },
  })
})

test('a load after an event sends what came after it, and nothing twice', async () => {
  const client = await connectedClient({ sessions: running(), capabilities: NUMBERED })
  await client.agent.request('session/load', loading('s1', 5))
  client.sessions.the('s1').says({ type: 'text-delta', text: 'd' })
  await until(() => seqs(client).length === 2)
  expect(seqs(client)).toEqual([6, 7])
  client.sessions.the('s1').ends('max_tokens')
  await until(() => named(client, '_agentproto/turn_ended').length === 1)
  expect(named(client, '_agentproto/turn_ended')[0]).toMatchObject({ turn: 2, stopReason: 'max_tokens' })
})

test('a load after the last event, or after more than there are, sends nothing', async () => {
  const client = await connectedClient({ sessions: running(), capabilities: NUMBERED })
  await client.agent.request('session/load', loading('s1', 6))
  await client.agent.request('session/load', loading('s1', 600))
  expect(seqs(client)).toEqual([])
  client.sessions.the('s1').says({ type: 'text-delta', text: 'd' })
  await until(() => seqs(client).length === 1)
  expect(seqs(client)).toEqual([7])
})

test.each([[-1], ['5'], [1.5], [null]])('a load after %j is refused', async (after) => {
  const client = await connectedClient({ sessions: running(), capabilities: NUMBERED })
  await expect(client.agent.request('session/load', loading('s1', after))).rejects.toMatchObject({
    data: { code: 'invalid_request', field: '_meta.agentproto.after' },
  })
})

test('the end of a turn that was prompted here is in its answer alone, with its number', async () => {
  const client = await connectedClient({ capabilities: NUMBERED })
  const { sessionId } = await client.agent.request('session/new', { cwd: '/work', mcpServers: [] })
  const turn = prompt(client, sessionId, 'go')
  await until(() => client.sessions.the(sessionId).turn === 1)
  client.sessions.the(sessionId).ends('end_turn')
  expect(await turn).toEqual({ stopReason: 'end_turn', _meta: { agentproto: { seq: 2, turn: 1 } } })
  expect(named(client, '_agentproto/turn_ended')).toEqual([])
})

test('a turn that fails while its client is away, or that another client prompted, ends with its error', async () => {
  const sessions = running()
  sessions.the('s1').says({ type: 'error', message: 'The model is gone', recoverable: false } as never)
  sessions.the('s1').ends('error')
  const client = await connectedClient({ sessions, capabilities: NUMBERED })
  expect(await client.agent.request('session/load', loading('s1', 6))).toEqual({ _meta: { agentproto: { seq: 8 } } })
  const failed = { sessionId: 's1', turn: 2, error: { message: 'The model is gone', data: { reason: 'error' } } }
  expect(named(client, '_agentproto/turn_ended')).toMatchObject([failed])
  expect(client.updates).toEqual([])
  sessions.the('s1').begins([{ type: 'text', text: 'three' }])
  sessions.the('s1').says({ type: 'error', message: 'Again', recoverable: false } as never)
  sessions.the('s1').ends('error')
  await until(() => named(client, '_agentproto/turn_ended').length === 2)
  expect(named(client, '_agentproto/turn_ended')[1]).toMatchObject({ turn: 3, error: { message: 'Again' } })
})

test('a request that comes again is marked as the same', async () => {
  const sessions = running()
  sessions.the('s1').asks('r1', {
    kind: 'permission',
    toolCall: { type: 'tool-call', toolCallId: 'c1' },
    options: [],
  } as never)
  const marks = []
  for (let times = 0; times < 2; times++) {
    const client = await connectedClient({ sessions, capabilities: NUMBERED })
    await client.agent.request('session/load', loading('s1', 7))
    await until(() => client.asked.length === 1)
    marks.push(client.asked[0]?.params['_meta'])
    client.leave()
  }
  expect(marks).toEqual([{ agentproto: { requestId: 'r1' } }, { agentproto: { requestId: 'r1' } }])
})
