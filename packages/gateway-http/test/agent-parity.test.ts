import { expect, test } from 'vitest'
import { fakeGateway, OWNER, type FakeGateway } from './fake-gateway.ts'
import { fakePermissions } from './fake-permissions.ts'

// Diane's agent-scoped view: each route below /sessions/:id, and the same below /agents/:agent/sessions/:id, asked the same
// of two gateways that are alike, answer the same and call the services the same.

interface Sample {
  readonly path?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const SSE = { accept: 'text/event-stream' }
const MARKDOWN = { accept: 'text/markdown' }

/** What is asked of each route: at least once as it should be, and once as it should not where that can be. */
const SAMPLES: Readonly<Record<string, readonly Sample[]>> = {
  'GET /:id': [{}, { headers: { 'if-none-match': '*' } }, { path: '/s9' }],
  'PATCH /:id': [{ body: { title: 'other' } }, { body: { label: null } }, { body: {} }],
  'DELETE /:id': [{}, { path: '/s9' }],
  'POST /:id/prompt': [
    { body: { prompt: 'hello' } },
    { body: { prompt: 'hello', wait: true } },
    { body: { prompt: 'hello' }, headers: SSE },
    { path: '/s2/prompt', body: { prompt: 'again' } },
    { body: { prompt: 7 } },
  ],
  'POST /:id/interrupt': [{}, { path: '/s2/interrupt' }, { body: { turn: 'x' } }],
  'POST /:id/cancel': [{}, { path: '/s2/cancel' }],
  'POST /:id/resume': [{}, { path: '/s4/resume', body: { fresh: true } }, { body: { stale: true } }],
  'POST /:id/config': [{ body: { mode: 'plan' } }, { body: {} }, { body: { mode: 'none' } }],
  'POST /:id/fork': [{ body: { title: 'other' } }, { body: { colour: 'red' } }],
  'POST /:id/worktree/merge': [
    {},
    { body: { strategy: 'squash' } },
    { path: '/s9/worktree/merge' },
    { body: { into: 'x' } },
  ],
  'POST /:id/worktree/discard': [{}, { body: { force: true } }, { body: { force: 'yes' } }],
  'POST /:id/kill': [{}, { body: { reason: 'loop_detected' } }, { body: { reason: 'boredom' } }],
  'GET /:id/output': [{}, { path: '/s1/output?lastN=1' }, { path: '/s1/output?lastN=none' }],
  'GET /:id/turns': [{}, { path: '/s1/turns?after=1' }, { path: '/s1/turns?limit=0' }],
  'GET /:id/turns/:turn': [{ path: '/s1/turns/1' }, { path: '/s1/turns/1?waitSeconds=1' }, { path: '/s1/turns/9' }],
  'GET /:id/stream': [
    { path: '/s4/stream' },
    { path: '/s4/stream?after=1.1' },
    { path: '/s4/stream', headers: { 'last-event-id': '99.1' } },
    { path: '/s4/stream?after=x' },
  ],
  'GET /:id/events': [
    {},
    { path: '/s1/events?after=2&limit=1' },
    { path: '/s4/events', headers: { ...SSE, 'last-event-id': '1' } },
    { path: '/s1/events?limit=x' },
  ],
  'GET /:id/requests': [{ path: '/s3/requests' }, {}],
  'POST /:id/requests/:requestId': [
    { path: '/s3/requests/r1', body: { optionId: 'yes' } },
    { path: '/s3/requests/r9', body: { optionId: 'yes' } },
  ],
  'GET /:id/rules': [{}],
  'POST /:id/rules': [{ body: { decision: 'deny', command: 'rm **' } }, { body: {} }],
  'DELETE /:id/rules/:ruleId': [{ path: '/s1/rules/pr_1' }, { path: '/s1/rules/pr_2' }],
  'GET /:id/export': [{}, { path: '/s1/export?format=md' }, { path: '/s1/export?format=pdf' }],
  'GET /:id/transcript': [{}, { headers: MARKDOWN }, { path: '/s1/transcript?format=pdf' }],
  'GET /:id/changes': [{}, { path: '/s1/changes?turn=1' }, { path: '/s1/changes?turn=x' }],
  'GET /:id/changes/diff': [{}, { path: '/s1/changes/diff?path=a.txt' }, { path: '/s1/changes/diff?path=' }],
  'POST /:id/changes/reviewed': [{ body: {} }, { body: { turn: 'x' } }],
  'POST /:id/rewind': [{ body: { turn: 0 } }, { body: {} }],
  'POST /:id/repair': [{}, { path: '/s1/repair?dryRun=true' }, { path: '/s1/repair?dryRun=perhaps' }],
}

interface Inhabited extends FakeGateway {
  readonly asked: unknown[][]
}

/** s1 idles, s2 hangs, s3 asks, s4 has ended. */
async function inhabited(): Promise<Inhabited> {
  const { permissions, calls: asked } = fakePermissions()
  const gateway = fakeGateway({ permissions })
  for (const prompt of ['one', 'hang', 'ask', 'two']) await gateway.sessions.spawn({ adapter: 'demo', prompt }, OWNER)
  await gateway.sessions.kill('s4', OWNER)
  gateway.sessions.calls.splice(0)
  return { ...gateway, asked }
}

/** The answer without what differs between the two paths. */
function headersOf({ headers }: Response): Readonly<Record<string, string>> {
  const { location, ...rest } = Object.fromEntries(headers)
  return location === undefined ? rest : { ...rest, location: location.replace(/^(?:\.\.\/)+/, '') }
}

/** The stream of a session that lives has no end. */
async function bodyOf(response: Response, endless: boolean): Promise<string> {
  if (!endless) return response.text()
  await response.body?.cancel()
  return 'endless'
}

async function answerTo(base: string, route: string, { path, body, headers = {} }: Sample): Promise<unknown> {
  const { call, sessions, asked } = await inhabited()
  const [method = '', shape = ''] = route.split(' ')
  const response = await call(method, base + (path ?? shape.replace(':id', 's1')), body, { ...headers })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  return {
    status: response.status,
    headers: headersOf(response),
    body: await bodyOf(response, isStream && method === 'GET' && path?.startsWith('/s4') !== true),
    // Whose session it is has to be looked up first; of one that there is not nothing more is asked.
    calls: [...sessions.calls.filter(([name, id]) => name !== 'get' && id !== 's9'), ...asked],
  }
}

const routesBelow = (base: string): string[] =>
  fakeGateway({ permissions: fakePermissions().permissions })
    .app.routes.filter(({ method, path }) => method !== 'ALL' && path.startsWith(`${base}/:id`))
    .map(({ method, path }) => `${method} ${path.slice(base.length)}`)

test('each route of a session has its samples, and the agent-scoped view has each', () => {
  expect(new Set(Object.keys(SAMPLES))).toEqual(new Set(routesBelow('/sessions')))
  expect(new Set(Object.keys(SAMPLES))).toEqual(new Set(routesBelow('/agents/:agent/sessions')))
})

test.each(Object.entries(SAMPLES))('%s is answered below an agent as below /sessions', async (route, samples) => {
  const statuses: number[] = []
  for (const sample of samples) {
    const answer = (await answerTo('/sessions', route, sample)) as { readonly status: number }
    expect(await answerTo('/agents/demo/sessions', route, sample)).toEqual(answer)
    statuses.push(answer.status)
  }
  // The first is as it should be; but a session that lives is not resumed.
  expect(statuses[0]).toSatisfy((status: number) => status < 300 || route === 'POST /:id/resume')
})

test('the list below an agent takes every filter of the list of all, and pages with the same cursor', async () => {
  const filters = 'status=running&workspace=w&label=l&q=t&onlyAlive=true&limit=5&after=c'
  const { call, sessions } = await inhabited()
  await call('GET', `/sessions?${filters}`)
  await call('GET', `/agents/demo/sessions?${filters}`)
  const [all, one] = sessions.calls.filter(([name]) => name === 'list').map(([, filter]) => filter as object)
  expect(one).toEqual({ ...all, adapter: 'demo' })
  expect((await call('GET', '/agents/demo/sessions?limit=0')).status).toBe(400)
})

test('the adapter of the path wins over one that the query names', async () => {
  const { call, sessions } = await inhabited()
  await call('GET', '/agents/demo/sessions?adapter=other')
  expect(sessions.calls.at(-1)).toEqual(['list', { adapter: 'demo' }])
})

test('a list and a session below an agent are tagged as those of all', async () => {
  const { call } = await inhabited()
  for (const path of ['/agents/demo/sessions', '/agents/demo/sessions/s1', '/agents/demo/sessions/s1/turns']) {
    const etag = (await call('GET', path)).headers.get('etag') ?? ''
    expect((await call('GET', path, undefined, { 'if-none-match': etag })).status, path).toBe(304)
  }
})

test('a start below an agent takes what a start takes, but for the adapter', async () => {
  const { call, sessions } = await inhabited()
  const request = { cwd: '/work/a', workspaceSlug: 'w', prompt: 'hi', label: 'l', mode: 'plan', idempotencyKey: 'k' }
  await call('POST', '/sessions/agent', { adapter: 'demo', ...request })
  await call('POST', '/agents/demo/sessions', request)
  const [all, one] = sessions.calls.filter(([name]) => name === 'spawn')
  expect(one).toEqual(all)
})
