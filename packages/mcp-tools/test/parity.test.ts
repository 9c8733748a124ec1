import { expect, test } from 'vitest'
import { connected } from './connected.ts'
import type { Connected } from './connected.ts'

// AIP-46 §MCP tools: "calling either family results in the same observable state". F70: neither drifts.

const json = async (response: Promise<Response>): Promise<Record<string, unknown>> =>
  (await response).json() as Promise<Record<string, unknown>>

/** Calls of the service since the last look, without those that a family makes for itself. */
function callsOf({ sessions }: Connected, ...own: string[]): unknown[] {
  return sessions.calls.splice(0).filter(([name]) => !own.includes(name))
}

async function started(...prompts: string[]): Promise<Connected> {
  const gateway = await connected()
  for (const prompt of prompts) await gateway.call('POST', '/sessions/agent', { adapter: 'demo', prompt })
  gateway.sessions.calls.splice(0)
  return gateway
}

test.each([
  [{ adapter: 'demo' }],
  [{ adapter: 'demo', workspaceSlug: 'w', cwd: '/work/x', prompt: 'p', label: 'l' }],
  [
    {
      adapter: 'demo',
      title: 't',
      mode: 'm',
      options: { a: 1, b: true },
      permissionMode: 'deny-all',
      additionalDirectories: ['/y'],
    },
  ],
  [{ adapter: 'demo', prompt: [{ type: 'text', text: 'p' }] }],
])('a start with %j is the same over HTTP and MCP', async (request) => {
  const gateway = await started()
  const overHttp = await json(gateway.call('POST', '/sessions/agent', request))
  const http = callsOf(gateway)
  const overMcp = await gateway.tool('start_agent_session', request)
  expect(callsOf(gateway)).toEqual(JSON.parse(JSON.stringify(http).replaceAll('s1', 's2')))
  expect({ ...overMcp, id: 's1' }).toEqual(overHttp)
})

test('prompt, interrupt, answer and kill reach the service the same way', async () => {
  const gateway = await started('one', 'one', 'ask', 'ask')
  const pairs: readonly [path: string, body: object, tool: string, args: object, own: string][] = [
    ['/sessions/s1/prompt', { prompt: 'hang' }, 'prompt_agent_session', { sessionId: 's2', prompt: 'hang' }, ''],
    ['/sessions/s1/interrupt', {}, 'interrupt_agent_session', { sessionId: 's2' }, ''],
    ['/sessions/s1/interrupt', { turn: 3 }, 'interrupt_agent_session', { sessionId: 's2', turn: 3 }, ''],
    [
      '/sessions/s3/requests/r1',
      { optionId: 'yes' },
      'answer_agent_request',
      { sessionId: 's4', requestId: 'r1', optionId: 'yes' },
      '',
    ],
    [
      '/sessions/s1/kill',
      { reason: 'loop_detected' },
      'kill_agent_session',
      { sessionId: 's2', reason: 'loop_detected' },
      '',
    ],
  ]
  for (const [path, body, tool, args] of pairs) {
    const overHttp = await json(gateway.call('POST', path, body))
    const http = JSON.stringify(callsOf(gateway)).replaceAll('s1', 's2').replaceAll('s3', 's4')
    const overMcp = await gateway.tool(tool, { ...args })
    expect([tool, callsOf(gateway)]).toEqual([tool, JSON.parse(http)])
    // AIP-46 calls the session `id` over HTTP and `sessionId` over MCP.
    const { id, ...rest } = JSON.parse(
      JSON.stringify(overHttp).replaceAll('s1', 's2').replaceAll('s3', 's4'),
    ) as Record<string, unknown>
    expect(overMcp).toEqual(id === undefined ? rest : { ...rest, sessionId: id })
  }
})

test('lists, sessions and output read the same', async () => {
  const { call, tool } = await started('one', 'two')
  await call('POST', '/sessions/s1/kill')
  expect(await tool('list_agent_sessions')).toEqual(listed(await json(call('GET', '/sessions'))))
  expect(await tool('list_agent_sessions', { onlyAlive: true })).toEqual(
    listed(await json(call('GET', '/sessions?onlyAlive=true'))),
  )
  expect(await tool('get_agent_session', { sessionId: 's2' })).toEqual({
    ...(await json(call('GET', '/sessions/s2'))),
    requests: [],
  })
  expect(await tool('get_agent_session_output', { sessionId: 's2', lastN: 5 })).toEqual(
    await json(call('GET', '/sessions/s2/output?lastN=5')),
  )
  expect(await tool('list_agent_adapters')).toEqual(await json(call('GET', '/adapters')))
  expect(await tool('list_agent_workspaces')).toEqual(await json(call('GET', '/workspaces')))
  expect(await tool('list_agent_hosts')).toEqual(await json(call('GET', '/hosts')))
})

test.each([
  ['/sessions/agent', {}, 'start_agent_session', {}],
  ['/sessions/agent', { adapter: 'other' }, 'start_agent_session', { adapter: 'other' }],
  ['/sessions/agent', { adapter: 'none' }, 'start_agent_session', { adapter: 'none' }],
  [
    '/sessions/agent',
    { adapter: 'demo', options: { a: {} } },
    'start_agent_session',
    { adapter: 'demo', options: { a: {} } },
  ],
  ['/sessions/s1/prompt', { prompt: 'again' }, 'prompt_agent_session', { sessionId: 's1', prompt: 'again' }],
  ['/sessions/s1/prompt', { prompt: '' }, 'prompt_agent_session', { sessionId: 's1', prompt: '' }],
  ['/sessions/unknown/kill', {}, 'kill_agent_session', { sessionId: 'unknown' }],
  [
    '/sessions/s1/requests/r9',
    { action: 'cancel' },
    'answer_agent_request',
    { sessionId: 's1', requestId: 'r9', action: 'cancel' },
  ],
])('%s with %j is refused with the same problem as %s', async (path, body, name, args) => {
  const { call, tool } = await started('hang')
  expect(await tool(name, args)).toEqual({ isError: true, ...(await json(call('POST', path, body))) })
})

/** 12.B3: the fields of AIP-46, and what a session waits for. */
function listed({ sessions = [], ...page }: { readonly sessions?: readonly Record<string, unknown>[] }): object {
  const fields =
    'id adapterSlug workspaceSlug cwd status state startedAt endedAt lastOutputAt exitCode label stopReason turn pendingRequests'
  const kept = (session: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(session).filter(([name]) => fields.split(' ').includes(name)))
  return { ...page, sessions: sessions.map(kept) }
}
