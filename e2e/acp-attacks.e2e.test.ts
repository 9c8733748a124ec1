import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { STORMS, watchMemory } from './support/acp-storms.js'
import { startDaemon } from './support/daemon.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { acpRequest, HELLO, initializedHttp, initializedSocket, rawSocket, type RawAcp } from './support/raw-acp.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The door `/acp` as an attacker uses it: with a token that was stolen, with what it can guess, and with more than it should send.

const text = (words: string): object[] => [{ type: 'text', text: words }]

const startedSession = async ({ client, cwd }: TestGateway, more: object = {}): Promise<string> =>
  (await client.sessions.start({ adapter: 'demo', cwd, ...more })).id

const opened = ({ cwd }: TestGateway, sessionId: string): object => ({ sessionId, cwd, mcpServers: [] })

/** The token that the agent of a session has, from its process. */
function tokenOfAgent(sessionId: string): string {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const variables = environ(pid)
    if (variables.includes(`AGENTPROTO_SESSION_ID=${sessionId}`)) {
      const token = variables.find((each) => each.startsWith('AGENTPROTO_TOKEN='))
      if (token !== undefined) return token.slice('AGENTPROTO_TOKEN='.length)
    }
  }
  throw new Error(`no agent of ${sessionId}`)
}

function environ(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

async function refusal(
  asked: Promise<{ readonly error?: { readonly data?: Record<string, unknown> } }>,
): Promise<unknown> {
  const { error } = await asked
  return error?.data?.['code']
}

test('a stolen read token sees, and does nothing', async () => {
  const gateway = await startGateway()
  const { token } = await gateway.client.tokens.create({ name: 'stolen', scope: 'read' })
  const sessionId = await startedSession(gateway)
  const thief = await initializedSocket({ ...gateway, token })
  expect(await thief.ask('session/load', opened(gateway, sessionId))).toHaveProperty('result')
  const { cwd } = gateway
  const attempts: readonly (readonly [string, object])[] = [
    ['session/new', { cwd, mcpServers: [], _meta: { agentproto: { adapter: 'demo' } } }],
    ['session/prompt', { sessionId, prompt: text('hello') }],
    ['session/set_mode', { sessionId, modeId: 'plan' }],
    ['session/set_config_option', { sessionId, configId: 'model', value: 'demo-2' }],
    ['session/fork', { sessionId, cwd }],
    ['session/delete', { sessionId }],
  ]
  for (const [method, params] of attempts)
    expect([method, await refusal(thief.ask(method, params))]).toEqual([method, 'forbidden'])
  // A notification has no answer: what it would do must not happen.
  await gateway.client.sessions.prompt(sessionId, { prompt: text('ask') as never })
  const pending = await pendingPermission(gateway.client, sessionId)
  thief.say(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } }))
  for (const id of [0, 1, '0', '1', pending.requestId])
    thief.say(
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        result: { outcome: { outcome: 'selected', optionId: allowOnce(pending) } },
      }),
    )
  expect(await thief.ask('session/list')).toHaveProperty('result')
  expect(thief.heard.filter(({ method }) => method === 'session/request_permission')).toEqual([])
  expect((await gateway.client.sessions.requests(sessionId)).map(({ state }) => state)).toEqual(['pending'])
})

test('a token that is bound to a workspace finds no session of another, by any method', async () => {
  const gateway = await startGateway()
  const [own, other] = [temporaryFolder('own'), temporaryFolder('other')]
  await gateway.client.workspaces.add({ path: own, slug: 'own' })
  await gateway.client.workspaces.add({ path: other, slug: 'other' })
  const theirs = (await gateway.client.sessions.start({ adapter: 'demo', workspaceSlug: 'other' })).id
  const { token } = await gateway.client.tokens.create({ name: 'bound', scope: 'operate', workspaces: ['own'] })
  const bound = await initializedSocket({ ...gateway, token })
  const { result } = await bound.ask('session/list')
  expect(result?.['sessions']).toEqual([])
  for (const method of ['session/load', 'session/resume', 'session/fork'])
    expect([method, await bound.ask(method, { sessionId: theirs, cwd: own, mcpServers: [] })]).toMatchObject([
      method,
      { error: { data: expect.anything() } },
    ])
  await bound.ask('session/delete', { sessionId: theirs })
  await bound.ask('session/close', { sessionId: theirs })
  expect((await gateway.client.sessions.get(theirs)).status).toBe('running')
  const starts: readonly object[] = [
    { cwd: other },
    { cwd: `${own}/../${other.split('/').at(-1)}` },
    { cwd: '/' },
    { cwd: own, _meta: { agentproto: { adapter: 'demo', workspaceSlug: 'other' } } },
    { cwd: own, additionalDirectories: [other] },
  ]
  for (const start of starts) {
    const answer = await bound.ask('session/new', {
      mcpServers: [],
      _meta: { agentproto: { adapter: 'demo' } },
      ...start,
    })
    expect([start, answer]).toMatchObject([start, { error: {} }])
  }
  expect((await gateway.client.sessions.list({})).sessions).toHaveLength(1)
})

test('an agent sees itself and cannot answer, prompt, cancel or end itself', async () => {
  const gateway = await startGateway()
  const sessionId = await startedSession(gateway, { delegation: {} })
  const other = await startedSession(gateway)
  await gateway.client.sessions.prompt(sessionId, { prompt: text('ask') as never })
  const pending = await pendingPermission(gateway.client, sessionId)
  const agent = await initializedSocket({ ...gateway, token: tokenOfAgent(sessionId) })
  expect(await agent.ask('session/load', opened(gateway, sessionId))).toHaveProperty('result')
  expect(await agent.ask('session/load', opened(gateway, other))).toHaveProperty('error')
  for (const id of [0, 1, '0', '1', pending.requestId])
    agent.say(
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        result: { outcome: { outcome: 'selected', optionId: allowOnce(pending) } },
      }),
    )
  agent.say(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } }))
  expect(await agent.ask('session/prompt', { sessionId, prompt: text('hello') })).toHaveProperty('error')
  expect(await agent.ask('session/set_mode', { sessionId, modeId: 'plan' })).toHaveProperty('error')
  await agent.ask('session/delete', { sessionId })
  expect(agent.heard.filter(({ method }) => method === 'session/request_permission')).toEqual([])
  expect((await gateway.client.sessions.requests(sessionId)).map(({ state }) => state)).toEqual(['pending'])
  // Its child is its own to drive, within what delegation allows.
  const spawned = await agent.ask('session/new', {
    cwd: gateway.cwd,
    mcpServers: [],
    _meta: { agentproto: { adapter: 'demo', permissionMode: 'approve-all' } },
  })
  expect(await Promise.resolve(spawned)).toMatchObject({ error: { data: { code: 'delegation_denied' } } })
})

test('ids are no keys: a connection of somebody else, a session and a request that were guessed', async () => {
  const gateway = await startGateway()
  const sessionId = await startedSession(gateway)
  const { token } = await gateway.client.tokens.create({ name: 'other', scope: 'operate' })
  const mine = await initializedHttp(gateway)
  const thief = { ...gateway, token }
  const load = { jsonrpc: '2.0', id: 2, method: 'session/load', params: opened(gateway, sessionId) }
  const unknown = { 'acp-connection-id': '00000000-0000-4000-8000-000000000000' }
  const tries = async (headers: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const session = { ...headers, 'acp-session-id': sessionId }
    const stream = { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } }
    const answers = [
      await acpRequest(thief, { body: load, headers: session }),
      await acpRequest(thief, stream),
      await acpRequest(thief, { ...stream, headers: { ...stream.headers, 'acp-session-id': sessionId } }),
      await acpRequest(thief, { method: 'DELETE', headers }),
    ]
    return answers.map(({ status, text: said }) => `${status} ${said}`)
  }
  const foreign = await tries(mine)
  expect(foreign.map((each) => each.slice(0, 3))).toEqual(['404', '404', '404', '404'])
  expect(foreign).toEqual(await tries(unknown))
  // The owner's own connection is untouched, and on another path it does not exist.
  expect((await acpRequest(gateway, { body: load, headers: { ...mine, 'acp-session-id': sessionId } })).status).toBe(
    202,
  )
  expect((await acpRequest(gateway, { path: '/acp/demo', body: load, headers: mine })).status).toBe(404)
  // A session that a client has not opened does not exist for it, whoever it is.
  const socket = await initializedSocket(gateway)
  expect(await socket.ask('session/prompt', { sessionId, prompt: text('hello') })).toHaveProperty('error')
})

test('initialize comes once, and nothing comes before it', async () => {
  const gateway = await startGateway()
  const early = await rawSocket(gateway)
  early.say(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session/list', params: {} }))
  expect(await early.closed).toBeGreaterThanOrEqual(1_000)
  const twice = await rawSocket(gateway)
  const both = await Promise.all([twice.ask('initialize', HELLO), twice.ask('initialize', HELLO)])
  expect(both.filter(({ result }) => result !== undefined)).toHaveLength(1)
  expect(await twice.ask('session/list')).toHaveProperty('result')
  const http = await initializedHttp(gateway)
  const again = { jsonrpc: '2.0', id: 9, method: 'initialize', params: HELLO }
  expect((await acpRequest(gateway, { body: again, headers: http })).status).toBe(400)
})

test('a token that ends takes its connections with it: one that waits for initialize, one at work, and a stream', async () => {
  const gateway = await startGateway()
  const { token } = await gateway.client.tokens.create({ name: 'ends', scope: 'operate' })
  const door = { ...gateway, token }
  const waiting = await rawSocket(door)
  const working = await initializedSocket(door)
  const http = await initializedHttp(door)
  const stream = fetch(`${gateway.url}/acp`, {
    headers: { ...http, authorization: `Bearer ${token}`, accept: 'text/event-stream' },
  }).then((response) => response.text().catch(() => 'cut'))
  const sessionId = await startedSession(gateway)
  await working.ask('session/load', opened(gateway, sessionId))
  const turn = working.ask('session/prompt', { sessionId, prompt: text('hang') })
  await expect.poll(async () => (await gateway.client.sessions.get(sessionId)).turn.state).toBe('busy')
  await gateway.client.tokens.revoke('ends')
  await Promise.all([waiting.closed, working.closed, stream])
  expect((await acpRequest(door, { method: 'DELETE', headers: http })).status).toBe(401)
  // The turn belongs to the session.
  expect((await gateway.client.sessions.get(sessionId)).turn.state).toBe('busy')
  // A new token of the same name is another caller.
  const { token: next } = await gateway.client.tokens.create({ name: 'ends', scope: 'operate' })
  expect((await acpRequest({ ...gateway, token: next }, { method: 'DELETE', headers: http })).status).toBe(404)
  void turn
})

test('DELETE while a request runs ends the connection, and not what it began', async () => {
  const gateway = await startGateway()
  const sessionId = await startedSession(gateway)
  const headers = await initializedHttp(gateway)
  const post = (id: number, method: string, params: object): ReturnType<typeof acpRequest> =>
    acpRequest(gateway, {
      body: { jsonrpc: '2.0', id, method, params },
      headers: { ...headers, 'acp-session-id': sessionId },
    })
  await post(2, 'session/resume', opened(gateway, sessionId))
  await post(3, 'session/prompt', { sessionId, prompt: text('late 300') })
  await expect.poll(async () => (await gateway.client.sessions.get(sessionId)).turnCount).toBe(1)
  const raced = await Promise.all([
    acpRequest(gateway, { method: 'DELETE', headers }),
    post(4, 'session/prompt', { sessionId, prompt: text('hello') }),
    acpRequest(gateway, { method: 'DELETE', headers }),
  ])
  for (const { status } of raced) expect([202, 404]).toContain(status)
  expect((await acpRequest(gateway, { method: 'DELETE', headers })).status).toBe(404)
  await expect
    .poll(async () => (await gateway.client.sessions.get(sessionId)).turn.state, { timeout: 10_000 })
    .toBe('idle')
})

test('names of object members, odd ids and deep JSON are data', async () => {
  const gateway = await startGateway()
  const socket = await initializedSocket(gateway)
  const ids = [0, -1, 1.5, 2 ** 53, '', '__proto__', 'constructor', 'x'.repeat(1_000)]
  for (const id of ids) socket.say(JSON.stringify({ jsonrpc: '2.0', id, method: 'session/list', params: {} }))
  await expect.poll(() => socket.heard.length).toBe(ids.length)
  expect(socket.heard.map(({ id }) => id)).toEqual(ids)
  expect(socket.heard.every(({ result }) => result !== undefined)).toBe(true)
  const names = ['__proto__', 'constructor', 'toString', 'session/__proto__', '', 'session/new\n']
  for (const name of names) expect(await socket.ask(name)).toMatchObject({ error: { code: -32601 } })
  for (const sessionId of ['__proto__', 'constructor', '..', '../../token', 'x'.repeat(900), '\0'])
    for (const method of ['session/load', 'session/prompt'])
      expect(await socket.ask(method, { ...opened(gateway, sessionId), prompt: text('x') })).toHaveProperty('error')
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  const hostile = [
    `{"jsonrpc":"2.0","id":70,"method":"session/list","params":{"_meta":{"a":${deep}}}}`,
    `{"jsonrpc":"2.0","id":71,"method":"session/new","params":{"cwd":"/","mcpServers":${deep}}}`,
    `{"jsonrpc":"2.0","id":72,"method":"nothing","params":${deep}}`,
    `{"jsonrpc":"2.0","id":73,"method":"session/list","params":{"__proto__":{"cwd":1},"constructor":{"prototype":{"polluted":true}}}}`,
    `{"jsonrpc":"2.0","id":${deep},"method":"session/list","params":{}}`,
    deep,
  ]
  for (const each of hostile) socket.say(each)
  expect(await socket.ask('session/list')).toHaveProperty('result')
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

/** Says it until the connection ends, no faster than the gateway takes it. */
async function flood(client: RawAcp, times: number, message: (at: number) => object): Promise<void> {
  let code: number | undefined
  void client.closed.then((closed) => (code = closed))
  for (let at = 0; at < times && code === undefined; at += 1) {
    client.say(JSON.stringify(message(at)))
    while (client.socket.bufferedAmount > 1_000_000 && code === undefined)
      await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Keeps nothing that comes. @returns what asks for one last thing, and resolves when it is answered */
function lastAnswer({ heard, say }: RawAcp): () => Promise<void> {
  let answered: () => void
  const isAnswered = new Promise<void>((resolve) => (answered = resolve))
  heard.push = (message) => {
    if (message?.id === 'last') answered()
    return 0
  }
  return () => {
    say(JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'session/list', params: {} }))
    return isAnswered
  }
}

test.each(Object.entries(STORMS))(
  'a storm %s takes no memory that grows, prints nothing, and others are served',
  async (_, messageOf) => {
    const home = temporaryFolder('storm')
    const gateway = await startDaemon({ home, keeper: false })
    const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: home })
    const attacker = await initializedSocket(gateway)
    await attacker.ask('session/resume', { sessionId: id, cwd: home, mcpServers: [] })
    const isHandled = lastAnswer(attacker)
    const other = await initializedSocket(gateway)
    const printed = gateway.printed().length
    const memory = watchMemory(gateway.pid)
    const storm = flood(attacker, 20_000, messageOf(id)).then(() => Promise.race([isHandled(), attacker.closed]))
    let slowest = 0
    const isOver = storm.then(() => true)
    while (!(await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, 100, false))]))) {
      const began = performance.now()
      expect(await other.ask('session/list')).toHaveProperty('result')
      slowest = Math.max(slowest, performance.now() - began)
    }
    expect(await other.ask('session/list')).toHaveProperty('result')
    expect(slowest).toBeLessThan(20_000)
    expect(memory.beyond()).toBeLessThan(150)
    expect(gateway.printed().slice(printed)).toBe('')
  },
  120_000,
)
