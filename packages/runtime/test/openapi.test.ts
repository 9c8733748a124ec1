import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// What a real gateway with a real agent answers is what its own OpenAPI document says.

const READS = [
  '/health',
  '/sessions?limit=2',
  '/sessions/{id}',
  '/sessions/{id}/turns',
  '/sessions/{id}/output?lastN=5',
  '/sessions/{id}/events?limit=100',
  '/sessions/{id}/requests',
  '/agents/{agent}/sessions',
  '/requests',
  '/workspaces',
  '/adapters',
  '/adapters/{slug}',
  '/adapters/{slug}/state',
  '/secrets',
  '/tokens',
  '/openapi.json',
]

test('a real gateway answers what its document says', { timeout: 60_000 }, async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const headers = {
    authorization: `Bearer ${gateway.token}`,
    host: 'localhost',
    'content-type': 'application/json',
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(
    (await (await gateway.app.request('/openapi.json', { headers })).json()) as Readonly<Record<string, unknown>>,
    'gateway',
  )
  let id = ''
  /** Calls an operation. Returns what it answers, and what is wrong with that. */
  async function ask(method: string, at: string, body?: unknown): Promise<{ complaint: string; answer: unknown }> {
    const path = at.replace('{id}', id).replace(/\{(?:agent|slug)\}/, 'demo')
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await gateway.app.request(path, { method, headers, ...sent })
    const answer: unknown = await response.json()
    const type = response.headers.get('content-type')?.split(';')[0] ?? ''
    const [template = ''] = at.split('?')
    const pointer = ['paths', template, method.toLowerCase(), 'responses', response.status, 'content', type, 'schema']
    const place = pointer.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const validate = ajv.getSchema(`gateway#/${place}`)
    const complaint =
      validate === undefined
        ? `${response.status} is not documented`
        : validate(answer)
          ? ''
          : ajv.errorsText(validate.errors)
    return { complaint: complaint === '' ? '' : `${method} ${at}: ${complaint}`, answer }
  }

  const started = await ask('POST', '/sessions/agent', { adapter: 'demo', cwd: home })
  id = (started.answer as { id: string }).id
  const complaints = [started.complaint]
  const steps: readonly (readonly [string, unknown?])[] = [
    ['/sessions/{id}/prompt', { prompt: 'plan; usage; write a.txt b', wait: true }],
    ['/sessions/{id}/config', { model: 'demo-2' }],
    ['/sessions/{id}/config', { model: 'none of them' }],
    ['/sessions/{id}/prompt', { prompt: 'hang' }],
    ['/sessions/{id}/prompt', { prompt: 'overlapping' }],
    ['/sessions/{id}/interrupt'],
    ['/sessions/{id}/fork', { title: 'another' }],
    ['/workspaces', { path: home, slug: 'here' }],
    ['/workspaces', { path: home, slug: 'here' }],
    ['/tokens', { name: 'ci', scope: 'read' }],
    ['/sessions/agent', { adapter: 'unknown' }],
  ]
  for (const [path, body] of steps) complaints.push((await ask('POST', path, body)).complaint)
  for (const names of [{ label: 'shop' }, { label: null, title: 'Shop' }, {}])
    complaints.push((await ask('PATCH', '/sessions/{id}', names)).complaint)
  for (const path of READS) complaints.push((await ask('GET', path)).complaint)
  for (const path of ['/sessions/{id}/kill', '/sessions/{id}/kill', '/sessions/{id}/resume'])
    complaints.push((await ask('POST', path)).complaint)
  complaints.push((await ask('GET', '/sessions/{id}')).complaint, (await ask('DELETE', '/sessions/{id}')).complaint)
  expect(complaints.filter((complaint) => complaint !== '')).toEqual([])
})
