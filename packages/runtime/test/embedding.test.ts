import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient, type Client } from '@agentproto/client'
import type { Principal } from '@agentproto/contracts'
import { createGateway, type Gateway } from '@agentproto/runtime'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// The gateway as a part of somebody else's server. docs/embedding.md says the same in prose.

const owner: Principal = { type: 'owner', name: 'me' }
const PREFIX = '/deep/agents'

/** Ways to put the app below a prefix; the host has routes of its own. */
const MOUNTS: readonly (readonly [string, (gateway: Gateway) => RequestListener])[] = [
  ['route of a Hono app', ({ app }) => listener(host().route(PREFIX, app))],
  ['mount of a Hono app', ({ app }) => listener(host().mount(PREFIX, (request) => app.fetch(request)))],
  [
    'a server of node:http',
    ({ app }) => {
      const agents = listener(new Hono().route(PREFIX, app))
      const others = listener(host())
      return (incoming, outgoing) => (incoming.url?.startsWith(`${PREFIX}/`) ? agents : others)(incoming, outgoing)
    },
  ],
]

const host = (): Hono => new Hono().get('/', (c) => c.text('the host’s own'))

function listener(app: Hono): RequestListener {
  const respond = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  return (incoming, outgoing) => void respond(incoming, outgoing)
}

async function served(respond: RequestListener): Promise<string> {
  const server = createServer(respond)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each(MOUNTS)('%s: HTTP, event streams and MCP below a prefix, the host’s routes beside it', async (_, mount) => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const origin = await served(mount(gateway))
  const url = `${origin}${PREFIX}`
  expect(await (await fetch(origin)).text()).toBe('the host’s own')
  const client = createClient({ url, token: gateway.token })
  expect(await client.health()).toMatchObject({ ok: true })
  // The client reads the turn as a stream of events.
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home })
  expect(await client.sessions.promptAndWait(id, { prompt: 'hello' })).toMatchObject({ text: 'echo: hello' })
  const lines: string[] = []
  await client.sessions.kill(id)
  for await (const item of client.sessions.stream(id)) if (item.type === 'line') lines.push(item.line.line)
  expect(lines).toContain('echo: hello')
  await expect(client.sessions.get('unknown')).rejects.toMatchObject({ code: 'session_not_found' })
  const headers = { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' }
  expect((await fetch(`${url}/sessions`)).status).toBe(401)
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const accept = 'application/json, text/event-stream'
  const tools = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...headers, accept },
    body: JSON.stringify(list),
  })
  expect([tools.status, await tools.text()]).toEqual([200, expect.stringContaining('start_agent_session')])
  // The document says where its paths begin, as seen from itself.
  const document = await fetch(`${url}/openapi.json`, { headers })
  const { servers } = (await document.json()) as { servers: { url: string }[] }
  expect(servers.map((server) => new URL(server.url, document.url).href)).toEqual([`${url}/`])
  // What was made is where it is said to be, as seen from the request.
  const body = JSON.stringify({ adapter: 'demo', cwd: home })
  const made = await fetch(`${url}/sessions/agent`, { method: 'POST', headers, body })
  const at = new URL(made.headers.get('location') ?? '', made.url)
  expect(at.pathname).toBe(`${PREFIX}/sessions/${((await made.json()) as { id: string }).id}`)
  expect((await fetch(at, { headers })).status).toBe(200)
})

test('two gateways beside one another in one server know nothing of each other', async () => {
  const [one, two] = [await temporaryHome(), await temporaryHome()]
  const [a, b] = [await testGateway({ home: one }), await testGateway({ home: two, store: 'memory' })]
  const origin = await served(listener(new Hono().route('/a', a.app).route('/b', b.app)))
  const clientOf = (path: string, { token }: Gateway): Client => createClient({ url: `${origin}/${path}`, token })
  const [ofA, ofB] = [clientOf('a', a), clientOf('b', b)]
  const [first, second] = await Promise.all([
    ofA.sessions.start({ adapter: 'demo', cwd: one, prompt: 'remember red' }),
    ofB.sessions.start({ adapter: 'demo', cwd: two, prompt: 'remember blue' }),
  ])
  expect((await ofA.sessions.list()).sessions.map(({ id }) => id)).toEqual([first.id])
  expect((await ofB.sessions.list()).sessions.map(({ id }) => id)).toEqual([second.id])
  await a.close()
  expect(await ofB.sessions.get(second.id)).toMatchObject({ status: 'running' })
})

test('await using ends it with its scope, agents and all', async () => {
  const home = await temporaryHome()
  let session: { id: string } | undefined
  let after: Gateway
  {
    await using gateway = await createGateway({ home, cwd: home, env: { ...process.env, AGENTPROTO_DEMO_HOME: home } })
    session = await gateway.sessions.spawn({ adapter: 'demo', cwd: home }, owner)
    after = gateway
  }
  expect(await after.sessions.get(session.id)).toMatchObject({ status: 'killed', stopReason: 'shutdown' })
  await expect(after.sessions.spawn({ adapter: 'demo', cwd: home }, owner)).rejects.toMatchObject({
    code: 'shutting_down',
  })
})

test('the archive: what was said is found, kept, taken in again, looked over and thrown away', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { sessions, archive } = gateway
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'heron' }, owner)
  await sessions.waitTurn(id, 1)
  await sessions.kill(id, owner)
  expect((await archive.search({ q: 'HERON' })).hits).toMatchObject([{ sessionId: id, turn: 1 }, { sessionId: id }])
  const kept: string[] = []
  for await (const piece of await archive.export(id, 'jsonl')) kept.push(piece)
  expect(await archive.repair(id, { dryRun: true }, owner)).toMatchObject({ id, findings: [] })
  const { pruned } = await archive.prune({ olderThanMs: 0 }, owner)
  expect(pruned.map((session) => session.id)).toEqual([id])
  await expect(sessions.get(id)).rejects.toMatchObject({ code: 'session_not_found' })
  expect(await archive.import(pieces(kept), owner)).toMatchObject({ id, status: 'killed', resumable: false })
  // What changes something is written down with who did it.
  await gateway.close()
  const audit = (await readFile(join(home, 'logs/audit.jsonl'), 'utf8')).trim().split('\n')
  const actions = audit.map((line) => JSON.parse(line) as { action?: string; by?: unknown })
  for (const action of ['prune', 'import']) expect(actions.some((entry) => entry.action === action)).toBe(true)
})

async function* pieces(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}
