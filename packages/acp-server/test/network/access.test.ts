import { client } from '@agentclientprotocol/sdk'
import type { Principal } from '@agentproto/contracts'
import type { AcpCaller, SpawnAgentRequest } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import {
  httpStream,
  type NetworkClient,
  networkClient,
  OWNER,
  socketStream,
  socketUrl,
  type TestEndpoint,
  testEndpoint,
  token,
} from './network-client.ts'
import { greeted, RawHttp, request, until } from './wire.ts'

// What a caller may do over the network is decided by its scope, its bounds and the path.

const PERMISSION = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 'c1', title: 'Write' },
  options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }],
} as never

const as = async (under: TestEndpoint, caller: AcpCaller, capabilities = {}): Promise<NetworkClient> =>
  networkClient(httpStream(under, caller), capabilities)

const loading = (sessionId: string): { sessionId: string; cwd: string; mcpServers: [] } => ({
  sessionId,
  cwd: '/work',
  mcpServers: [],
})

const refusedBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'allowed',
    (thrown: unknown) => (thrown as { data?: { code?: string } }).data?.code,
  )

test('a token that may only read lists, loads, resumes and closes, and nothing else', async () => {
  const under = testEndpoint()
  under.sessions.add('s1').begins([{ type: 'text', text: 'hi' }])
  const { agent } = await as(under, { by: token('reader', 'read') })
  expect((await agent.request('session/list', {})).sessions).toHaveLength(1)
  await agent.request('session/load', loading('s1'))
  await agent.request('session/resume', loading('s1'))
  const refused = await Promise.all([
    refusedBy(agent.request('session/new', { cwd: '/work', mcpServers: [] })),
    refusedBy(agent.request('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'x' }] })),
    refusedBy(agent.request('session/set_mode', { sessionId: 's1', modeId: 'plan' })),
    refusedBy(agent.request('session/fork', { sessionId: 's1' })),
    refusedBy(agent.request('session/delete', { sessionId: 's1' })),
  ])
  expect(refused).toEqual(Array.from({ length: 5 }, () => 'forbidden'))
  await agent.notify('session/cancel', { sessionId: 's1' })
  await until(() => under.refused.length === 6)
  expect(under.refused).toContainEqual(
    expect.objectContaining({ code: 'forbidden', method: 'session/prompt', path: '/acp' }),
  )
  await agent.request('session/close', { sessionId: 's1' })
  expect(under.calls).toEqual([])
  expect(under.sessions.the('s1').busy).toBe(true)
})

test('a token that may only read is not asked, and shown that the agent waits; its own answer counts for nothing', async () => {
  const under = testEndpoint()
  under.sessions.add('s1').begins([{ type: 'text', text: 'hi' }])
  const notices = { session: { notices: {} } }
  const reader = await as(under, { by: token('reader', 'read') }, notices)
  const driver = await as(under, { by: token('driver') }, notices)
  for (const { agent } of [reader, driver]) await agent.request('session/load', loading('s1'))
  under.sessions.the('s1').asks('r1', PERMISSION)
  await until(() => driver.asked.length === 1)
  await until(() => reader.updates.some(({ update }) => update.sessionUpdate === 'notice'))
  const late = await as(under, { by: token('reader', 'read') }, notices)
  await late.agent.request('session/load', loading('s1'))
  await until(() => late.updates.some(({ update }) => update.sessionUpdate === 'notice'))
  expect([reader.asked, late.asked]).toEqual([[], []])
  const raw = await greeted(await socketUrl(under, { by: token('reader', 'read') }))
  raw.say(request(1, 'session/load', loading('s1')))
  await until(() => raw.messages.some(({ id }) => id === 1))
  for (const id of [0, 1, 2])
    raw.say({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'yes' } } })
  raw.say(request(9, 'session/list'))
  await until(() => raw.messages.some(({ id }) => id === 9))
  expect(under.sessions.the('s1').requests[0]?.state).toBe('pending')
  driver.asked[0]?.answer({ outcome: { outcome: 'selected', optionId: 'yes' } })
  await until(() => under.sessions.the('s1').requests[0]?.state === 'resolved')
  expect(under.calls).toMatchObject([{ method: 'answer', by: { name: 'driver' } }])
  expect([under.printed, under.problems]).toEqual([[], []])
})

test('F78 two clients of one session: the first answer counts, the other’s request is withdrawn, a second answer changes nothing', async () => {
  const under = testEndpoint()
  under.sessions.add('s1').begins([{ type: 'text', text: 'hi' }])
  const url = await socketUrl(under)
  const raw = await greeted(url)
  raw.say(request(1, 'session/load', loading('s1')))
  const other = await networkClient(socketStream(url))
  await other.agent.request('session/load', loading('s1'))
  under.sessions.the('s1').asks('r1', PERMISSION)
  const asked = (): Record<string, unknown> | undefined =>
    raw.messages.find(({ method }) => method === 'session/request_permission')
  await until(() => asked() !== undefined && other.asked.length === 1)
  const answer = { jsonrpc: '2.0', id: asked()?.['id'], result: { outcome: { outcome: 'selected', optionId: 'yes' } } }
  raw.say(answer)
  raw.say(answer)
  await until(() => other.asked[0]?.signal.aborted)
  other.asked[0]?.answer({ outcome: { outcome: 'selected', optionId: 'yes' } })
  await other.agent.request('session/list', {})
  expect(under.calls.filter(({ method }) => method === 'answer')).toHaveLength(1)
  expect([under.printed, under.problems]).toEqual([[], []])
})

test('a token of a workspace sees and uses only its sessions', async () => {
  const under = testEndpoint()
  under.sessions.add('in', { workspaceSlug: 'mine' })
  under.sessions.add('out', { workspaceSlug: 'theirs' })
  const by = { ...token('bound'), workspaces: ['mine'] } as Principal
  const { agent } = await as(under, { by })
  const { sessions } = await agent.request('session/list', {})
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['in'])
  await agent.request('session/load', loading('in'))
  await expect(agent.request('session/load', loading('out'))).rejects.toMatchObject({ code: -32_002 })
  await expect(agent.request('session/fork', { sessionId: 'out' })).rejects.toMatchObject({ code: -32_002 })
  await agent.request('session/delete', { sessionId: 'out' })
  expect([...under.sessions.sessions.keys()]).toEqual(['in', 'out'])
})

test('/acp/:agent has only the sessions of that agent, and starts no other', async () => {
  const under = testEndpoint()
  under.sessions.add('d1', { adapterSlug: 'demo' })
  under.sessions.add('o1', { adapterSlug: 'other' })
  const { agent } = await as(under, { by: OWNER, agent: 'other' })
  const { sessions } = await agent.request('session/list', {})
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['o1'])
  await expect(agent.request('session/load', loading('d1'))).rejects.toMatchObject({ code: -32_002 })
  const open = (meta: object): Promise<unknown> =>
    agent.request('session/new', { cwd: '/work', mcpServers: [], _meta: { agentproto: meta } })
  expect(await refusedBy(open({ adapter: 'demo' }))).toBe('invalid_request')
  await open({ label: 'mine' })
  expect(under.calls).toMatchObject([
    { method: 'spawn', by: OWNER, given: { adapter: 'other', label: 'mine', cwd: '/work' } },
  ])
})

test('/acp/:agent of an agent that does not exist refuses initialize', async () => {
  const { AgentprotoError } = await import('@agentproto/contracts')
  const adapters = {
    list: async () => [],
    get: async () => {
      throw new AgentprotoError('adapter_not_found', 'There is no such adapter')
    },
  }
  const under = testEndpoint({ adapters })
  const connection = client({ name: 'test' }).connect(httpStream(under, { by: OWNER, agent: 'nope' }))
  expect(await refusedBy(connection.agent.request('initialize', { protocolVersion: 1 }))).toBe('adapter_not_found')
  connection.close()
})

test('what a client sends is parsed as over HTTP: a prompt of too many blocks, an unknown field, a relative folder', async () => {
  const under = testEndpoint()
  const { agent } = await as(under, { by: OWNER })
  const { sessionId } = await agent.request('session/new', { cwd: '/work', mcpServers: [] })
  const block = { type: 'text', text: 'x' } as const
  const prompt = Array.from({ length: 257 }, () => block)
  expect(await refusedBy(agent.request('session/prompt', { sessionId, prompt }))).toBe('invalid_request')
  const meta = { agentproto: { wrong: 1 } }
  expect(await refusedBy(agent.request('session/new', { cwd: '/work', mcpServers: [], _meta: meta }))).toBe(
    'invalid_request',
  )
})

test('_meta.agentproto.on of session/new is the host, as over HTTP; one that cannot be a host starts nothing', async () => {
  const under = testEndpoint()
  const { agent } = await as(under, { by: OWNER })
  const open = (meta: unknown): Promise<unknown> =>
    agent.request('session/new', { cwd: '/work', mcpServers: [], _meta: { agentproto: meta } })
  const wrong = ['', 'x'.repeat(256), 1, null, true, ['far'], { name: 'far' }].map((on) => ({ on }))
  for (const meta of [...wrong, { On: 'far' }, { host: 'far' }, { on: 'far', hostId: 'far' }, ['far'], 'far'])
    expect([meta, await refusedBy(open(meta))]).toEqual([meta, 'invalid_request'])
  expect(under.calls).toEqual([])
  for (const on of ['far', 'gpu=yes', 'any', 'x'.repeat(255)]) await open({ on })
  expect(under.calls.map(({ given }) => (given as SpawnAgentRequest).on)).toEqual([
    'far',
    'gpu=yes',
    'any',
    'x'.repeat(255),
  ])
})

test('the trace of a prompt is that of its _meta, else of its request; not that of the request that opened the connection', async () => {
  const under = testEndpoint()
  const trace = (digit: string): string => `00-${digit.repeat(32)}-b7ad6b7169203331-01`
  const by = { ...OWNER, trace: { traceparent: trace('a') } }
  const http = await new RawHttp(under, { by }).initialize()
  under.sessions.add('s1')
  const post = (id: number, method: string, more: object, headers: Record<string, string> = {}): Promise<Response> =>
    http.post(request(id, method, { sessionId: 's1', ...more }), { ...http.headers('s1'), ...headers })
  await post(1, 'session/resume', { cwd: '/', mcpServers: [] })
  const prompts = (): (string | undefined)[] =>
    under.calls.flatMap(({ method, by: caller }) => (method === 'prompt' ? [caller.trace?.traceparent] : []))
  const asked = { prompt: [{ type: 'text', text: 'x' }] }
  await post(2, 'session/prompt', asked)
  await until(() => prompts().length === 1)
  await post(3, 'session/prompt', asked, { traceparent: trace('b') })
  await until(() => prompts().length === 2)
  await post(4, 'session/prompt', { ...asked, _meta: { traceparent: trace('c') } }, { traceparent: trace('d') })
  await until(() => prompts().length === 3)
  expect(prompts()).toEqual([undefined, trace('b'), trace('c')])
})
