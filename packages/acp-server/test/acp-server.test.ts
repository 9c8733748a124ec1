import type { SetSessionConfigOptionRequest } from '@agentclientprotocol/sdk'
import { type AgentCapabilities, AgentprotoError } from '@agentproto/contracts'
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connectedClient, CONFIGURED } from './acp-client.ts'
import type { TestClient } from './acp-client.ts'
import { FakeSessions } from './fake-sessions.ts'

// AIP-44, kind bridge: a gateway's sessions as an ACP agent, spoken to by the official client.

const PERMISSION = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 'c1', title: 'Write a.txt', kind: 'edit', input: { path: 'a.txt' } },
  options: [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Deny', kind: 'reject_once' },
  ],
} as const

const NOTHING: AgentCapabilities = {
  load: false,
  resume: false,
  list: false,
  close: false,
  fork: false,
  image: false,
  audio: false,
  embeddedContext: false,
  mcpHttp: false,
  mcpSse: false,
  additionalDirectories: false,
}

const open = async (client: TestClient): Promise<string> =>
  (await client.agent.request('session/new', { cwd: '/work', mcpServers: [] })).sessionId

const prompt = (client: TestClient, sessionId: string, text: string): Promise<{ stopReason: string }> =>
  client.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })

const kinds = ({ updates }: TestClient): string[] => updates.map(({ update }) => update.sessionUpdate)
const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 10_000 })

test('it says what it can', async () => {
  const client = await connectedClient()
  const answer = JSON.parse(client.lines[0] ?? '') as { result: unknown }
  expect(answer.result).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'agentproto', version: '1.2.3' },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    },
  })
})

test('it says no more than its agent can, where that is known', async () => {
  const known = { ...NOTHING, image: true, mcpSse: true, fork: true }
  const capabilitiesOf = async (agent: AgentCapabilities): Promise<unknown> => {
    const { lines } = await connectedClient({ agent })
    return (JSON.parse(lines[0] ?? '') as { result: { agentCapabilities: unknown } }).result.agentCapabilities
  }
  const always = { list: {}, resume: {}, close: {}, delete: {} }
  expect(await capabilitiesOf(known)).toEqual({
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: false, sse: true },
    sessionCapabilities: { ...always, fork: {} },
  })
  expect(await capabilitiesOf({ ...NOTHING, additionalDirectories: true })).toMatchObject({
    promptCapabilities: { image: false },
    sessionCapabilities: { ...always, additionalDirectories: {} },
  })
})

test('a client that supports terminals gets the login', async () => {
  const methodsOf = ({ lines }: TestClient): unknown =>
    (JSON.parse(lines[0] ?? '') as { result: { authMethods: unknown } }).result.authMethods
  expect(methodsOf(await connectedClient())).toEqual([])
  expect(methodsOf(await connectedClient({ capabilities: { auth: { terminal: true } } }))).toEqual([
    { type: 'terminal', id: 'login', name: 'Log in', args: ['--login'] },
  ])
})

test('a gap in the history is reported at its place', async () => {
  const sessions = new FakeSessions()
  sessions.add('s1').begins([{ type: 'text', text: 'first' }])
  sessions.the('s1').ends('end_turn')
  sessions.gap = { after: 0, first: 3 }
  const client = await connectedClient({ sessions, capabilities: { session: { notices: {} } } })
  await client.agent.request('session/load', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  expect(client.updates[0]?.update).toMatchObject({
    sessionUpdate: 'notice',
    title: 'The events 1 to 2 are no longer available',
  })
})

test('unknown methods and notifications are ignored or refused', async () => {
  const client = await connectedClient()
  await expect(client.agent.request('session/dance', {})).rejects.toMatchObject({ code: -32601 })
  await expect(client.agent.request('authenticate', { methodId: 'x' })).rejects.toMatchObject({ code: -32601 })
  await client.agent.notify('_vendor/hello', {})
  await expect(client.agent.request('session/new', { cwd: 1 } as never)).rejects.toMatchObject({ code: -32602 })
  client.say('[1, 2')
  client.say('42')
  expect(await open(client)).toBe('s1')
})

test('a new session sends its warnings', async () => {
  const sessions = new FakeSessions()
  sessions.created = { warnings: ['The agent takes no MCP servers over sse: "x" is not mounted.'] }
  const client = await connectedClient({ sessions, capabilities: { session: { notices: {} } } })
  await open(client)
  await until(() => kinds(client).includes('notice'))
  const notices = client.updates.map(({ update }) => update).filter(({ sessionUpdate }) => sessionUpdate === 'notice')
  expect(notices).toEqual([{ sessionUpdate: 'notice', severity: 'warning', title: sessions.created.warnings?.[0] }])
})

test('a fork is a session of its own, with the other’s history behind it', async () => {
  const client = await connectedClient()
  const id = await open(client)
  const forked = await client.agent.request<{ sessionId: string }, object>('session/fork', { sessionId: id, cwd: '/w' })
  expect(forked).toMatchObject({ sessionId: `${id}-fork` })
  await until(() => client.sessions.the(`${id}-fork`).followers === 1)
  const unknown = client.agent.request('session/fork', { sessionId: 'unknown', cwd: '/w' })
  await expect(unknown).rejects.toMatchObject({ code: -32002, data: { code: 'session_not_found' } })
})

test('a new session sends its modes, its options and then its commands', async () => {
  const client = await connectedClient()
  const answer = await client.agent.request('session/new', {
    cwd: '/work',
    additionalDirectories: ['/more'],
    mcpServers: [
      { name: 'files', command: '/bin/files', args: ['-x'], env: [{ name: 'A', value: '1', _meta: {} }] },
      { type: 'http', name: 'web', url: 'http://localhost/mcp', headers: [] },
    ],
    _meta: { agentproto: { adapter: 'demo' } },
  })
  const mcpServers = [
    { name: 'files', command: '/bin/files', args: ['-x'], env: [{ name: 'A', value: '1' }] },
    { type: 'http', name: 'web', url: 'http://localhost/mcp', headers: [] },
  ]
  expect(client.opened).toEqual([
    { cwd: '/work', additionalDirectories: ['/more'], mcpServers, meta: { adapter: 'demo' } },
  ])
  expect(answer).toEqual({
    sessionId: 's1',
    modes: { currentModeId: 'default', availableModes: CONFIGURED.config.modes },
    configOptions: [
      { id: 'effort', name: 'Effort', type: 'select', currentValue: 'low', options: [{ value: 'low', name: 'Low' }] },
      {
        id: 'model',
        name: 'Model',
        category: 'model',
        type: 'select',
        currentValue: 'big',
        options: [{ value: 'big', name: 'Big' }],
      },
    ],
  })
  await until(() => client.updates.length === 1)
  expect(client.updates[0]?.update).toEqual({
    sessionUpdate: 'available_commands_update',
    availableCommands: [{ name: 'init', description: 'Looks around', input: { hint: 'where' } }],
  })
  // The client learns the id from the answer: nothing may speak of it before.
  expect(client.lines.findIndex((line) => line.includes('available_commands_update'))).toBe(2)
})

test('a turn: what the agent says comes as updates, in order, before the answer', async () => {
  const client = await connectedClient({ capabilities: { session: { notices: {} } } })
  const id = await open(client)
  const answered = prompt(client, id, '/init here')
  await until(() => client.sessions.calls.length === 1)
  expect(client.sessions.calls[0]).toEqual(['prompt', id, [{ type: 'text', text: '/init here' }]])
  const session = client.sessions.the(id)
  session.says({ type: 'thought', text: 'hm' })
  session.says({ type: 'tool-call', toolCallId: 'c1', toolName: 'write', kind: 'edit', status: 'in_progress' })
  session.says({
    type: 'tool-result',
    toolCallId: 'c1',
    status: 'interrupted',
    content: [
      { type: 'diff', path: '/work/a', newText: 'x' },
      { type: 'terminal', terminalId: 't' },
    ],
  })
  session.says({ type: 'plan', entries: [{ content: 'do', status: 'pending' }] })
  session.says({ type: 'usage', used: 1, size: 2 })
  session.says({ type: 'title', title: 'T' })
  session.says({ type: 'notice', severity: 'info', text: 'compacted' })
  session.says({ type: 'output', stream: 'stderr', text: 'noise' })
  session.says({ type: 'text-delta', text: 'done', messageId: 'm1' })
  session.ends('end_turn')
  expect(await answered).toEqual({ stopReason: 'end_turn' })
  expect(client.updates.slice(1).map(({ update }) => update)).toEqual([
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } },
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'c1',
      name: 'write',
      title: 'write',
      kind: 'edit',
      status: 'in_progress',
    },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'failed',
      content: [{ type: 'diff', path: '/work/a', oldText: null, newText: 'x' }],
    },
    { sessionUpdate: 'plan', entries: [{ content: 'do', status: 'pending', priority: 'medium' }] },
    { sessionUpdate: 'usage_update', used: 1, size: 2 },
    { sessionUpdate: 'session_info_update', title: 'T', updatedAt: expect.any(String) },
    { sessionUpdate: 'notice', severity: 'info', title: 'compacted' },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'done' }, messageId: 'm1' },
  ])
  expect(client.lines.at(-1)).toContain('"stopReason"')
})

test('images and resources of a prompt are passed on, without what is the client’s own', async () => {
  const client = await connectedClient()
  const id = await open(client)
  const answered = client.agent.request('session/prompt', {
    sessionId: id,
    prompt: [
      { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations: { priority: 1 } },
      { type: 'resource_link', uri: 'file:///a', name: 'a', size: 3, mimeType: null },
      { type: 'resource', resource: { uri: 'file:///b', text: 'b', _meta: { x: 1 } } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'AA==', mimeType: 'x/y' } },
    ],
  })
  await until(() => client.sessions.calls.length === 1)
  expect(client.sessions.calls[0]?.[2]).toEqual([
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource_link', uri: 'file:///a', name: 'a', size: 3 },
    { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
    { type: 'resource', resource: { uri: 'file:///c', blob: 'AA==', mimeType: 'x/y' } },
  ])
  client.sessions.the(id).ends('max_tokens')
  expect(await answered).toEqual({ stopReason: 'max_tokens' })
})

test('F14 a turn that is over before its prompt was answered is not missed', async () => {
  const client = await connectedClient()
  const id = await open(client)
  client.sessions.beforeAnswer = async () => {
    client.sessions.the(id).says({ type: 'text-delta', text: 'quick' })
    client.sessions.the(id).ends('end_turn')
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await prompt(client, id, 'hello')).toEqual({ stopReason: 'end_turn' })
  // Its own prompt is not sent back to it.
  expect(kinds(client)).toEqual(['available_commands_update', 'agent_message_chunk'])
})

test('a turn that fails is an error with the agent’s own words', async () => {
  const client = await connectedClient()
  const id = await open(client)
  const answered = prompt(client, id, 'hello')
  await until(() => client.sessions.the(id).busy)
  client.sessions.the(id).says({ type: 'error', message: 'Out of credit', agentCode: -32000, data: { plan: 'free' } })
  client.sessions.the(id).ends('error')
  await expect(answered).rejects.toMatchObject({
    code: -32000,
    message: 'Out of credit',
    data: { code: 'auth_required', reason: 'error', cause: { plan: 'free' } },
  })
})

test.each([
  ['error', { message: 'broke', agentCode: 'E1' }, { code: -32603, message: 'broke', data: { code: 'prompt_failed' } }],
  ['error', { message: 'odd', agentCode: 7 }, { code: 7, message: 'odd', data: { code: 'prompt_failed' } }],
  ['timeout', undefined, { code: -32603, message: 'The turn timed out', data: { code: 'timeout', reason: 'timeout' } }],
] as const)('a turn that ends with %s and %j is refused in those words', async (reason, error, refusal) => {
  const client = await connectedClient()
  const answered = prompt(client, await open(client), 'hello')
  await until(() => client.sessions.the('s1').busy)
  if (error !== undefined) client.sessions.the('s1').says({ type: 'error', ...error })
  client.sessions.the('s1').ends(reason)
  await expect(answered).rejects.toMatchObject(refusal)
})

test.each(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const)(
  'a turn that ends with %s says so',
  async (stopReason) => {
    const client = await connectedClient()
    const answered = prompt(client, await open(client), 'hello')
    await until(() => client.sessions.the('s1').busy)
    client.sessions.the('s1').ends(stopReason)
    expect(await answered).toEqual({ stopReason })
  },
)

test('a refused prompt is an error with the problem document', async () => {
  const client = await connectedClient()
  const id = await open(client)
  client.sessions.refusal = new AgentprotoError('turn_in_progress', 'Turn 1 of the session is in progress')
  await expect(prompt(client, id, 'hello')).rejects.toMatchObject({
    code: -32603,
    data: { code: 'turn_in_progress', status: 409 },
  })
  client.sessions.refusal = undefined
  const answered = prompt(client, id, 'again')
  await until(() => client.sessions.the(id).busy)
  client.sessions.the(id).ends('refusal')
  expect(await answered).toEqual({ stopReason: 'refusal' })
})

test('cancel interrupts the turn, and so does $/cancel_request', async () => {
  const client = await connectedClient()
  const id = await open(client)
  const first = prompt(client, id, 'hang')
  await until(() => client.sessions.the(id).busy)
  await client.agent.notify('session/cancel', { sessionId: id })
  expect(await first).toEqual({ stopReason: 'cancelled' })
  const abort = new AbortController()
  const second = client.agent.request(
    'session/prompt',
    { sessionId: id, prompt: [{ type: 'text', text: 'hang' }] },
    { cancellationSignal: abort.signal },
  )
  await until(() => client.sessions.the(id).busy)
  abort.abort()
  expect(await second).toEqual({ stopReason: 'cancelled' })
  // No running turn, and an unknown session: neither is an error.
  await client.agent.notify('session/cancel', { sessionId: id })
  await client.agent.notify('session/cancel', { sessionId: 'unknown' })
})

test('a permission is asked of the client, and its answer is the agent’s', async () => {
  const client = await connectedClient()
  const id = await open(client)
  const answered = prompt(client, id, 'write')
  await until(() => client.sessions.the(id).busy)
  client.sessions.the(id).asks('r1', PERMISSION)
  await until(() => client.asked.length === 1)
  expect(client.asked[0]).toMatchObject({
    method: 'session/request_permission',
    params: {
      sessionId: id,
      toolCall: { toolCallId: 'c1', title: 'Write a.txt', kind: 'edit', rawInput: { path: 'a.txt' } },
      options: PERMISSION.options,
    },
  })
  client.asked[0]?.answer({ outcome: { outcome: 'selected', optionId: 'yes' } })
  await until(() => client.sessions.calls.length === 2)
  expect(client.sessions.calls[1]).toEqual(['answer', id, 'r1', { optionId: 'yes' }])
  client.sessions.the(id).asks('r2', PERMISSION)
  await until(() => client.asked.length === 2)
  client.asked[1]?.answer({ outcome: { outcome: 'cancelled' } })
  await until(() => client.sessions.calls.length === 3)
  expect(client.sessions.calls[2]).toEqual(['answer', id, 'r2', { action: 'cancel' }])
  client.sessions.the(id).ends('end_turn')
  await answered
})

test('of two clients the first answer wins, and the other’s question is taken back', async () => {
  const sessions = new FakeSessions()
  sessions.add('s1')
  const [one, two] = [await connectedClient({ sessions }), await connectedClient({ sessions })]
  for (const client of [one, two])
    await client.agent.request('session/load', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  const answered = prompt(one, 's1', 'write')
  await until(() => sessions.the('s1').busy)
  sessions.the('s1').asks('r1', PERMISSION)
  await until(() => one.asked.length === 1 && two.asked.length === 1)
  two.asked[0]?.answer({ outcome: { outcome: 'selected', optionId: 'yes' } })
  await until(() => one.asked[0]?.signal.aborted)
  sessions.the('s1').says({ type: 'text-delta', text: 'ok' })
  sessions.the('s1').ends('end_turn')
  await answered
  await until(() => kinds(two).length === 2)
  // Each sees the other's prompt, and none sees its own twice.
  expect([kinds(one), kinds(two)]).toEqual([['agent_message_chunk'], ['user_message_chunk', 'agent_message_chunk']])
  expect([one.problems, two.problems]).toEqual([[], []])
})

test('a question is sent to a client that supports forms, and shown as a notice in one that does not', async () => {
  const sessions = new FakeSessions()
  const session = sessions.add('s1')
  const knows = await connectedClient({ sessions, capabilities: { elicitation: { form: {} } } })
  const plain = await connectedClient({ sessions })
  for (const client of [knows, plain])
    await client.agent.request('session/resume', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  session.begins([])
  session.asks('q1', { kind: 'question', message: 'Which?', mode: 'form', schema: { type: 'object', properties: {} } })
  await until(() => knows.asked.length === 1 && plain.updates.length === 1)
  expect(knows.asked[0]).toMatchObject({ method: 'elicitation/create', params: { mode: 'form', message: 'Which?' } })
  expect(plain.updates[0]?.update).toMatchObject({
    content: { text: expect.stringContaining('agentproto sessions answer s1') },
  })
  knows.asked[0]?.answer({ action: 'accept', content: { which: 'this' } })
  await until(() => sessions.calls.length === 1)
  expect(sessions.calls[0]).toEqual(['answer', 's1', 'q1', { action: 'accept', content: { which: 'this' } }])
})

test('load sends the history before its answer, then pending requests, then new events', async () => {
  const sessions = new FakeSessions()
  const session = sessions.add('s1', CONFIGURED)
  session.begins([{ type: 'text', text: 'first' }])
  session.says({ type: 'text-delta', text: 'one' })
  session.says({ type: 'error', message: 'broke' })
  session.ends('error')
  session.begins([{ type: 'text', text: 'second' }])
  session.asks('r1', PERMISSION)
  const client = await connectedClient({ sessions })
  const answer = await client.agent.request('session/load', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  expect(answer).toMatchObject({ modes: { currentModeId: 'default' } })
  expect(client.updates.map(({ update }) => ('content' in update ? update.content : undefined))).toMatchObject([
    { text: 'first' },
    { text: 'one' },
    { text: '[error] broke\n' },
    { text: 'second' },
  ])
  await until(() => client.asked.length === 1)
  session.says({ type: 'text-delta', text: 'two' })
  await until(() => kinds(client).includes('available_commands_update') && client.updates.length === 6)
  expect(client.asked).toHaveLength(1)
})

test('resume sends no history', async () => {
  const sessions = new FakeSessions()
  sessions.add('s1').begins([{ type: 'text', text: 'first' }])
  const client = await connectedClient({ sessions })
  await client.agent.request('session/resume', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  sessions.the('s1').says({ type: 'text-delta', text: 'two' })
  await until(() => client.updates.length > 0)
  expect(kinds(client)).toEqual(['agent_message_chunk'])
})

test('a session that has ended is loaded, and a prompt goes on with it', async () => {
  const sessions = new FakeSessions()
  const session = sessions.add('s1')
  session.begins([{ type: 'text', text: 'first' }])
  session.ends('end_turn')
  session.stops()
  const client = await connectedClient({ sessions })
  await client.agent.request('session/load', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  const answered = prompt(client, 's1', 'again')
  await until(() => session.busy)
  session.says({ type: 'text-delta', text: 'awake' })
  session.ends('end_turn')
  expect(await answered).toEqual({ stopReason: 'end_turn' })
  expect(client.updates.at(-1)?.update).toMatchObject({ content: { text: 'awake' } })
})

test('an agent that ends under a turn ends the turn, and the next prompt is followed again', async () => {
  const client = await connectedClient()
  const id = await open(client)
  const session = client.sessions.the(id)
  const first = prompt(client, id, 'crash')
  await until(() => session.busy)
  session.says({ type: 'error', message: 'The agent ended' })
  session.ends('error')
  session.stops()
  await expect(first).rejects.toMatchObject({ message: 'The agent ended' })
  const second = prompt(client, id, 'again')
  await until(() => session.busy)
  session.ends('end_turn')
  expect(await second).toEqual({ stopReason: 'end_turn' })
})

test('session/new can give a session that is there, with its history', async () => {
  const sessions = new FakeSessions()
  sessions.add('mine').begins([{ type: 'text', text: 'first' }])
  const client = await connectedClient({ sessions, attach: 'mine' })
  expect(await open(client)).toBe('mine')
  await until(() => client.updates.length === 1)
  expect(client.updates).toMatchObject([{ sessionId: 'mine', update: { content: { text: 'first' } } }])
})

test('list gives the sessions of the gateway, of one folder where it is asked for', async () => {
  const sessions = new FakeSessions()
  sessions.add('s1', { title: 'One' })
  sessions.add('s2', { cwd: '/other', label: 'two' })
  const client = await connectedClient({ sessions })
  expect(await client.agent.request('session/list', { cursor: 'after' })).toMatchObject({
    sessions: [
      { sessionId: 's1', cwd: '/work', title: 'One', _meta: { agentproto: { adapter: 'demo', status: 'running' } } },
      { sessionId: 's2', cwd: '/other', title: 'two' },
    ],
    nextCursor: 'more',
  })
  expect(sessions.calls).toEqual([['list', { limit: 100, after: 'after' }]])
  expect((await client.agent.request('session/list', { cwd: '/other' })).sessions).toMatchObject([{ sessionId: 's2' }])
})

test('a folder that is named by a link is the one that it leads to', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-acp-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await symlink(folder, join(folder, 'link'))
  const sessions = new FakeSessions()
  sessions.add('s1', { cwd: folder })
  sessions.add('s2')
  const client = await connectedClient({ sessions })
  const { sessions: found } = await client.agent.request('session/list', { cwd: join(folder, 'link') })
  expect(found).toMatchObject([{ sessionId: 's1', cwd: folder }])
})

test('modes and options are set', async () => {
  const client = await connectedClient({ capabilities: { session: { configOptions: { boolean: {} } } } })
  const id = await open(client)
  await client.agent.request('session/set_mode', { sessionId: id, modeId: 'plan' })
  const set: SetSessionConfigOptionRequest = { sessionId: id, configId: 'fast', type: 'boolean', value: false }
  const { configOptions } = await client.agent.request('session/set_config_option', set)
  expect(configOptions.map((option) => option.id)).toEqual(['effort', 'fast', 'model'])
  await client.agent.request('session/set_config_option', { sessionId: id, configId: 'model', value: 'big' })
  expect(client.sessions.calls).toEqual([
    ['configure', id, { mode: 'plan' }],
    ['configure', id, { options: { fast: false } }],
    ['configure', id, { model: 'big' }],
  ])
  await until(() => kinds(client).includes('current_mode_update'))
  await expect(client.agent.request('session/set_mode', { sessionId: id, modeId: 'nope' })).rejects.toMatchObject({
    code: -32602,
    data: { code: 'mode_unknown' },
  })
  const wrong = client.agent.request('session/set_config_option', { sessionId: id, configId: 'nope', value: 'x' })
  await expect(wrong).rejects.toMatchObject({ code: -32602, data: { code: 'option_invalid' } })
})

test('an unknown session is refused as ACP says', async () => {
  const client = await connectedClient()
  const params = { sessionId: 'unknown', cwd: '/work', mcpServers: [] }
  const refused = { code: -32002, data: { sessionId: 'unknown' } }
  await expect(client.agent.request('session/load', params)).rejects.toMatchObject(refused)
  await expect(client.agent.request('session/resume', params)).rejects.toMatchObject(refused)
  await expect(prompt(client, 'unknown', 'x')).rejects.toMatchObject(refused)
})

test('close lets go: the client’s own turn ends, the session stays', async () => {
  const client = await connectedClient()
  const id = await open(client)
  const answered = prompt(client, id, 'hang').catch((error: unknown) => error)
  await until(() => client.sessions.the(id).busy)
  await client.agent.request('session/close', { sessionId: id })
  expect(await answered).toMatchObject({ code: -32800 })
  expect(client.sessions.the(id)).toMatchObject({ busy: false, status: 'running' })
  await until(() => client.sessions.the(id).followers === 0)
  await client.agent.request('session/close', { sessionId: id })
})

test('delete removes a session, and an unknown one is not an error', async () => {
  const client = await connectedClient()
  const id = await open(client)
  await client.agent.request('session/delete', { sessionId: id })
  await client.agent.request('session/delete', { sessionId: id })
  expect(client.sessions.sessions.has(id)).toBe(false)
})

test('F1 a client that goes away leaves its turn running, and nothing open', async () => {
  const client = await connectedClient()
  const id = await open(client)
  void prompt(client, id, 'hang').catch(() => undefined)
  await until(() => client.sessions.the(id).busy)
  client.sessions.the(id).asks('r1', PERMISSION)
  await until(() => client.asked.length === 1)
  client.leave()
  await client.server.closed
  await until(() => client.sessions.the(id).followers === 0)
  expect(client.sessions.calls.map(([name]) => name)).toEqual(['prompt'])
  expect(client.sessions.the(id).busy).toBe(true)
  expect(client.problems).toEqual([])
})

test('a line that is no JSON is answered as such, and the connection lives', async () => {
  const client = await connectedClient()
  client.say('this is no JSON')
  client.say('')
  expect(await open(client)).toBe('s1')
  expect(client.lines[1]).toContain('-32700')
})

test('the trace that a client names in _meta goes with what it asks for; one that is not valid is dropped', async () => {
  const client = await connectedClient()
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' }
  const opening = { cwd: '/work', mcpServers: [] }
  const { sessionId } = await client.agent.request('session/new', { ...opening, _meta: trace })
  await client.agent.request('session/new', { ...opening, _meta: { traceparent: 'what?' } })
  expect(client.opened).toMatchObject([{ trace }, {}])
  expect(client.opened[1]).not.toHaveProperty('trace')
  client.sessions.beforeAnswer = () => client.sessions.the(sessionId).ends('end_turn')
  const text = [{ type: 'text' as const, text: 'hi' }]
  await client.agent.request('session/prompt', { sessionId, prompt: text, _meta: { ...trace, other: 1 } })
  await client.agent.request('session/prompt', { sessionId, prompt: text, _meta: { tracestate: 'a=1' } })
  expect(client.sessions.calls).toEqual([
    ['prompt', sessionId, text, trace],
    ['prompt', sessionId, text],
  ])
})
