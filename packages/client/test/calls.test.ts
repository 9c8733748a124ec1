import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { AgentprotoError, createClient } from '@agentproto/client'
import { fakeGateway, json } from './fake-gateway.js'

test('a call carries the token, its query and its JSON body', async () => {
  const gateway = await fakeGateway(({ method }, response) =>
    method === 'GET' ? json(response, { sessions: [] }) : json(response, { id: 's1' }, 201),
  )
  const client = createClient({ url: `${gateway.url}/`, token: 't0' })
  await client.sessions.list({ onlyAlive: true, q: 'a b' })
  await client.sessions.start({ adapter: 'demo', label: 'x' })
  expect(gateway.seen[0]).toMatchObject({ method: 'GET', path: '/sessions?onlyAlive=true&q=a+b' })
  expect(gateway.seen[0]?.headers).toMatchObject({ authorization: 'Bearer t0', accept: 'application/json' })
  expect(gateway.seen[1]).toMatchObject({
    method: 'POST',
    path: '/sessions/agent',
    body: { adapter: 'demo', label: 'x' },
  })
})

test('15.2 all requests that wait are read page by page', async () => {
  const pages = [{ requests: [{ requestId: 'a' }], nextCursor: 'a' }, { requests: [{ requestId: 'b' }] }]
  const gateway = await fakeGateway(({ path }, response) => json(response, pages[path.includes('after=a') ? 1 : 0]))
  const { sessions } = createClient({ url: gateway.url, token: 't' })
  expect((await sessions.allWaiting()).map(({ requestId }) => requestId)).toEqual(['a', 'b'])
  expect(gateway.seen.map(({ path }) => path)).toEqual(['/requests', '/requests?after=a'])
})

test('17.2 hosts whose waiting requests are missing are named', async () => {
  const unanswered = [{ host: 'tower', problem: 'host_unreachable' }]
  const gateway = await fakeGateway((_, response) => json(response, { requests: [{ requestId: 'a' }], unanswered }))
  const { sessions } = createClient({ url: gateway.url, token: 't' })
  const named: string[] = []
  expect(await sessions.allWaiting(({ host }) => named.push(host))).toHaveLength(1)
  expect(named).toEqual(['tower'])
})

test('each call names its route', async () => {
  const gateway = await fakeGateway((_, response) =>
    json(response, { lines: [], turns: [], requests: [], rules: [], events: [], adapters: [], workspaces: [] }),
  )
  const client = createClient({ url: gateway.url, token: 't' })
  const { sessions, permissions, workspaces, adapters } = client
  await client.health()
  await client.gateway()
  await client.logOut()
  await sessions.get('a/b')
  await sessions.prompt('s', { prompt: 'hi' })
  await sessions.configure('s', { mode: 'plan' })
  await sessions.fork('s')
  await sessions.interrupt('s')
  await sessions.kill('s', { reason: 'loop_detected' })
  await sessions.remove('s')
  await sessions.output('s', 5)
  await sessions.turns('s')
  await sessions.eventsPage('s', 3, 10)
  await sessions.requests('s')
  await sessions.answer('s', 'r1', { optionId: 'yes' })
  await permissions.list({ sessionId: 's' })
  await permissions.all()
  await permissions.add({ sessionId: 's' }, { decision: 'deny', toolKind: 'edit' })
  await permissions.remove({ workspaceSlug: 'w' }, 'pr_1')
  await workspaces.list()
  await workspaces.add({ path: '/x' })
  await workspaces.remove('x')
  await workspaces.use('x')
  await adapters.list()
  await adapters.get('demo')
  await adapters.remove('demo')
  expect(gateway.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /health',
    'GET /gateway',
    'POST /auth/logout',
    'GET /sessions/a%2Fb',
    'POST /sessions/s/prompt',
    'POST /sessions/s/config',
    'POST /sessions/s/fork',
    'POST /sessions/s/interrupt',
    'POST /sessions/s/kill',
    'DELETE /sessions/s',
    'GET /sessions/s/output?lastN=5',
    'GET /sessions/s/turns',
    'GET /sessions/s/events?after=3&limit=10',
    'GET /sessions/s/requests',
    'POST /sessions/s/requests/r1',
    'GET /sessions/s/rules',
    'GET /rules',
    'POST /sessions/s/rules',
    'DELETE /workspaces/w/rules/pr_1',
    'GET /workspaces',
    'POST /workspaces',
    'DELETE /workspaces/x',
    'POST /workspaces/x/use',
    'GET /adapters',
    'GET /adapters/demo',
    'DELETE /adapters/demo',
  ])
})

test('a problem document becomes the error that it was', async () => {
  const problem = new AgentprotoError('turn_in_progress', 'Turn 3 is running', {
    hint: 'Wait',
    data: { turn: 3 },
  }).toProblem()
  const gateway = await fakeGateway((_, response) => json(response, problem, 409))
  const call = createClient({ url: gateway.url }).sessions.prompt('s', { prompt: 'hi' })
  await expect(call).rejects.toMatchObject({
    code: 'turn_in_progress',
    message: problem.detail,
    parts: { data: { turn: 3 } },
  })
})

test('an answer that is no problem document says that the url is not a gateway', async () => {
  const gateway = await fakeGateway((_, response) => response.writeHead(404).end('<html>'))
  await expect(createClient({ url: gateway.url }).health()).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('answered 404'),
  })
})

test('without a listener the error says what to run', async () => {
  const call = createClient({ url: `http://127.0.0.1:${await unusedPort()}` }).health()
  await expect(call).rejects.toMatchObject({
    code: 'daemon_not_running',
    parts: { hint: expect.stringContaining('agentproto serve') },
  })
})

test('a GET whose connection breaks is repeated', async () => {
  let calls = 0
  const gateway = await fakeGateway((_, response) =>
    ++calls < 3 ? response.destroy() : json(response, { status: 'ok' }),
  )
  await expect(createClient({ url: gateway.url }).health()).resolves.toEqual({ status: 'ok' })
  expect(calls).toBe(3)
})

test('a POST whose connection breaks is sent once, and the error says that its outcome is unknown', async () => {
  const gateway = await fakeGateway((_, response) => response.destroy())
  const call = createClient({ url: gateway.url }).sessions.prompt('s', { prompt: 'hi' })
  await expect(call).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('may have executed the call'),
  })
  expect(gateway.seen).toHaveLength(1)
})

async function unusedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
