import { expect, test } from 'vitest'
import { OWNER } from '../../gateway-http/test/fake-gateway.ts'
import { connected, ERAS } from './connected.ts'

test.each(ERAS)('the list is the same and complete for a %s client', async (era) => {
  const { client } = await connected(era)
  const { tools } = await client.listTools()
  const inputs = Object.fromEntries(
    tools.map(({ name, inputSchema }) => [
      name,
      [inputSchema.required ?? [], Object.keys(inputSchema.properties ?? {})],
    ]),
  )
  expect(inputs).toEqual({
    start_agent_session: [
      ['adapter'],
      [
        'adapter',
        'workspaceSlug',
        'cwd',
        'prompt',
        'label',
        'title',
        'mode',
        'options',
        'permissionMode',
        'additionalDirectories',
        'worktree',
        'mcpServers',
        'instructions',
        'envelope',
        'continuation',
        'ttlSeconds',
        'budget',
        'on',
        'onHostLoss',
        'delegation',
        'idempotencyKey',
      ],
    ],
    prompt_agent_session: [
      ['sessionId', 'prompt'],
      ['sessionId', 'prompt'],
    ],
    list_agent_sessions: [
      [],
      ['onlyAlive', 'state', 'adapter', 'workspace', 'host', 'label', 'since', 'limit', 'after'],
    ],
    get_agent_session_output: [['sessionId'], ['sessionId', 'lastN']],
    kill_agent_session: [['sessionId'], ['sessionId', 'reason']],
    get_agent_session: [['sessionId'], ['sessionId']],
    wait_agent_turn: [['sessionId'], ['sessionId', 'turn', 'timeoutSeconds']],
    interrupt_agent_session: [['sessionId'], ['sessionId', 'turn']],
    resume_agent_session: [['sessionId'], ['sessionId', 'fresh', 'continuation']],
    answer_agent_request: [
      ['sessionId', 'requestId'],
      ['sessionId', 'requestId', 'optionId', 'remember', 'action', 'content'],
    ],
    get_session_changes: [['sessionId'], ['sessionId', 'from', 'to', 'turn', 'patch']],
    wait_for_sessions: [['sessionIds'], ['sessionIds', 'timeoutSeconds']],
    list_agent_adapters: [[], []],
    list_agent_workspaces: [[], []],
    list_agent_hosts: [[], []],
  })
})

test('F74 the whole list stays under 15 kB', async () => {
  const { call } = await connected()
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const response = await call('POST', '/mcp', body, { accept: 'application/json, text/event-stream' })
  const text = await response.text()
  expect(text).toContain('kill_agent_session')
  expect(Buffer.byteLength(text)).toBeLessThan(15_000)
})

test('each tool has a description, an output schema and says whether it only reads', async () => {
  const { client } = await connected()
  const { tools } = await client.listTools()
  for (const { name, description, outputSchema, annotations } of tools) {
    expect([name, description?.length, outputSchema?.['type']]).toEqual([name, expect.any(Number), 'object'])
    expect([name, annotations?.readOnlyHint]).toEqual([name, /^(?:get|list|wait)_/.test(name)])
  }
  expect(tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name)).toEqual([
    'kill_agent_session',
  ])
})

test('the server returns its name, version and instructions', async () => {
  const { client } = await connected('legacy')
  expect(client.getServerVersion()).toMatchObject({ name: 'agentproto', version: '1.2.3' })
  expect(client.getInstructions()).toContain('One turn at a time')
})

test.each(ERAS)('an error is a result with isError and the problem document, for a %s client', async (era) => {
  const { client } = await connected(era)
  const result = await client.callTool({ name: 'get_agent_session', arguments: { sessionId: 'unknown' } })
  expect(result.isError).toBe(true)
  expect(result.structuredContent).toBeUndefined()
  const [content] = result.content
  expect(JSON.parse(content?.type === 'text' ? content.text : '')).toMatchObject({
    type: 'urn:agentproto:error:session_not_found',
    status: 404,
    code: 'session_not_found',
    given: 'unknown',
  })
})

test('a wrong argument is named', async () => {
  const { tool } = await connected()
  expect(await tool('start_agent_session')).toMatchObject({
    isError: true,
    code: 'invalid_request',
    field: 'adapter',
    expected: 'a string',
  })
  expect(await tool('kill_agent_session', { sessionId: 's1', force: true })).toMatchObject({
    code: 'invalid_request',
    field: 'force',
  })
  expect(await tool('get_agent_session_output', { sessionId: 's1', lastN: 2001 })).toMatchObject({
    field: 'lastN',
    expected: 'at most 2000',
  })
})

test.each(ERAS)('an unknown tool is refused by the protocol, for a %s client', async (era) => {
  const { client } = await connected(era)
  await expect(client.callTool({ name: 'nope', arguments: {} })).rejects.toMatchObject({ code: -32602 })
})

test('a foreign error is only reported as internal', async () => {
  const { tool, sessions, errors } = await connected()
  const foreign = new Error('secret path /home/x')
  sessions.failure = foreign
  const refused = await tool('list_agent_sessions')
  expect(refused).toMatchObject({ isError: true, code: 'internal' })
  expect(JSON.stringify(refused)).not.toContain('/home/x')
  expect(errors).toEqual([foreign])
})

test('F72 arguments that come as texts of JSON are understood', async () => {
  const { tool, sessions, call } = await connected()
  await tool('start_agent_session', {
    adapter: 'demo',
    options: '{"effort":"high"}',
    additionalDirectories: '["/a"]',
    prompt: '{"not":"parsed"}',
  })
  expect(sessions.calls[0]?.[1]).toEqual({
    adapter: 'demo',
    options: { effort: 'high' },
    additionalDirectories: ['/a'],
    prompt: '{"not":"parsed"}',
  })
  expect(await tool('list_agent_sessions', { onlyAlive: 'true', limit: '5' })).toMatchObject({
    sessions: [{ id: 's1' }],
  })
  expect(await tool('list_agent_sessions', { onlyAlive: 'perhaps' })).toMatchObject({
    code: 'invalid_request',
    field: 'onlyAlive',
  })
  const params = { name: 'kill_agent_session', arguments: '{"sessionId":"s1"}' }
  const response = await call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    { accept: 'application/json, text/event-stream' },
  )
  expect(await response.text()).toContain('\\"ok\\":true')
})

test('content blocks are taken as a prompt', async () => {
  const { tool, sessions } = await connected()
  const prompt = [{ type: 'text', text: 'hello' }]
  await tool('start_agent_session', { adapter: 'demo', prompt })
  expect(sessions.calls[0]?.[1]).toMatchObject({ prompt })
  expect(await tool('prompt_agent_session', { sessionId: 's1', prompt: [{ type: 'text' }] })).toMatchObject({
    field: 'prompt.0.text',
  })
})

test('get_agent_session shows what waits for an answer, answer_agent_request answers it once', async () => {
  const { tool, sessions } = await connected()
  await tool('start_agent_session', { adapter: 'demo', prompt: 'ask' })
  expect(await tool('get_agent_session', { sessionId: 's1' })).toMatchObject({
    id: 's1',
    requests: [{ requestId: 'r1', request: { options: [{ optionId: 'yes' }] } }],
  })
  const answered = await tool('answer_agent_request', { sessionId: 's1', requestId: 'r1', optionId: 'yes' })
  expect(answered).toMatchObject({ requestId: 'r1', state: 'resolved' })
  expect(sessions.calls.at(-1)).toEqual(['answer', 's1', 'r1', { outcome: 'selected', optionId: 'yes' }, OWNER])
  expect(await tool('answer_agent_request', { sessionId: 's1', requestId: 'r1', action: 'cancel' })).toMatchObject({
    code: 'request_resolved',
  })
  expect(await tool('answer_agent_request', { sessionId: 's1', requestId: 'r1' })).toMatchObject({
    code: 'invalid_request',
  })
  expect(await tool('get_agent_session', { sessionId: 's1' })).toMatchObject({ requests: [] })
})

test('interrupt_agent_session stops the turn and leaves the session', async () => {
  const { tool } = await connected()
  await tool('start_agent_session', { adapter: 'demo', prompt: 'hang' })
  expect(await tool('interrupt_agent_session', { sessionId: 's1' })).toEqual({
    ok: true,
    sessionId: 's1',
    wasBusy: true,
  })
  expect(await tool('interrupt_agent_session', { sessionId: 's1' })).toEqual({
    ok: true,
    sessionId: 's1',
    wasBusy: false,
  })
  expect(await tool('get_agent_session', { sessionId: 's1' })).toMatchObject({ status: 'running' })
})

test('list_agent_adapters and list_agent_workspaces list what can be started where', async () => {
  const { tool } = await connected()
  expect(await tool('list_agent_adapters')).toMatchObject({ adapters: [{ slug: 'demo', installed: true }] })
  expect(await tool('list_agent_workspaces')).toMatchObject({ version: 1, workspaces: [] })
  expect(await tool('list_agent_hosts')).toMatchObject({ hosts: [{ name: 'desk', reachable: true }] })
})

test.each(ERAS)('the trace that a %s client names in _meta goes with the call', async (era) => {
  const { client, sessions } = await connected(era)
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' }
  const start = { name: 'start_agent_session', arguments: { adapter: 'demo' } }
  await client.callTool({ ...start, _meta: trace })
  expect(sessions.calls.at(-1)).toEqual(['spawn', { adapter: 'demo' }, { ...OWNER, trace }])
  await client.callTool({ ...start, _meta: { traceparent: 'what?' } })
  expect(sessions.calls.at(-1)).toEqual(['spawn', { adapter: 'demo' }, OWNER])
})
