import type { Principal, Scope } from '@agentproto/contracts'
import { TOOLS } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { OWNER } from '../../gateway-http/test/fake-gateway.ts'
import { connected } from './connected.ts'
import type { Connected } from './connected.ts'

const TOOL_SCOPES: Readonly<Record<string, Scope>> = Object.fromEntries(
  Object.values(TOOLS).map(({ name, scope }) => [name, scope]),
)

// Every tool with every principal; the same table as the routes'.

/** Sessions: s1 in `mine`, s2 in `theirs`, s3 a child of s1. The calls after that are those of `by`. */
async function connectedAs(by: Principal): Promise<Connected> {
  let caller: Principal = OWNER
  const gateway = await connected('modern', { authenticate: () => caller })
  for (const workspaceSlug of ['mine', 'theirs', 'mine'])
    await gateway.call('POST', '/sessions/agent', { adapter: 'demo', workspaceSlug, prompt: 'ask' })
  const child = gateway.sessions.all.get('s3')
  if (child) child.session = { ...child.session, parentSessionId: 's1', rootSessionId: 's1', depth: 1 }
  caller = by
  return gateway
}

const token = (scope: Scope, workspaces?: readonly string[]): Principal => ({
  type: 'token',
  name: 't',
  scope,
  ...(workspaces === undefined ? {} : { workspaces }),
})
const session = (delegates: boolean): Principal => ({ type: 'session', name: 'session s1', sessionId: 's1', delegates })

const MORE: Readonly<Record<string, object>> = {
  start_agent_session: { adapter: 'demo' },
  prompt_agent_session: { prompt: 'hello' },
  answer_agent_request: { requestId: 'r1', optionId: 'yes' },
  wait_agent_turn: { timeoutSeconds: 0 },
}

const PRINCIPALS: readonly {
  readonly who: string
  readonly by: Principal
  readonly may: readonly Scope[]
  readonly reads: readonly string[]
  readonly drives: readonly string[]
}[] = [
  { who: 'the owner', by: OWNER, may: ['read', 'operate'], reads: ['s1', 's2', 's3'], drives: ['s1', 's2', 's3'] },
  { who: 'a read token', by: token('read'), may: ['read'], reads: ['s1', 's2', 's3'], drives: [] },
  {
    who: 'a bound operate token',
    by: token('operate', ['mine']),
    may: ['read', 'operate'],
    reads: ['s1', 's3'],
    drives: ['s1', 's3'],
  },
  { who: 'a session', by: session(false), may: ['read'], reads: ['s1', 's3'], drives: [] },
  { who: 'a granted session', by: session(true), may: ['read', 'operate'], reads: ['s1', 's3'], drives: ['s3'] },
]

test('every tool has its row in the table, and every row its tool', async () => {
  const { client } = await connectedAs(OWNER)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(TOOL_SCOPES).toSorted())
})

type Row = (typeof PRINCIPALS)[number]

function expectedOf({ by, may, reads, drives }: Row, scope: Scope | undefined, sessionId: string): string {
  if (scope === undefined || !may.includes(scope)) return by.type === 'session' ? 'delegation_denied' : 'forbidden'
  const reached = sessionId === '' || (scope === 'read' ? reads : drives).includes(sessionId)
  return reached ? 'through' : 'session_not_found'
}

const REFUSALS = ['forbidden', 'delegation_denied', 'session_not_found']
const takesSession = ({
  inputSchema,
}: {
  readonly inputSchema: { readonly properties?: object | undefined }
}): boolean => 'sessionId' in (inputSchema.properties ?? {})

test.each(PRINCIPALS)('$who uses what is theirs, and nothing else', { timeout: 60_000 }, async (row) => {
  const { tools: all } = await (await connectedAs(OWNER)).client.listTools()
  const { tools } = await (await connectedAs(row.by)).client.listTools()
  const names = Object.keys(TOOL_SCOPES)
  expect(tools.map(({ name }) => name).toSorted()).toEqual(
    names.toSorted().filter((name) => row.may.some((may) => may === TOOL_SCOPES[name])),
  )
  const calls = all.flatMap((tool) =>
    (takesSession(tool) ? ['s1', 's2', 's3'] : ['']).map((sessionId) => ({ name: tool.name, sessionId })),
  )
  for (const { name, sessionId } of calls) {
    const { tool } = await connectedAs(row.by)
    const { code } = await tool(name, { ...(sessionId === '' ? {} : { sessionId }), ...MORE[name] })
    const got = REFUSALS.includes(String(code)) ? code : 'through'
    expect([name, sessionId, got]).toEqual([name, sessionId, expectedOf(row, TOOL_SCOPES[name], sessionId)])
  }
})

test('lists hold what their caller reaches', async () => {
  const { tool } = await connectedAs(session(false))
  const { sessions } = (await tool('list_agent_sessions')) as { sessions: { id: string }[] }
  expect(sessions.map(({ id }) => id)).toEqual(['s1', 's3'])
  expect(await tool('list_agent_workspaces')).toEqual({ version: 1, workspaces: [] })
})
