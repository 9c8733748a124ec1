import { readFileSync } from 'node:fs'
import { AgentprotoError, type BrowserLogin, type TokenService } from '@agentproto/contracts'
import { openApiDocument } from '@agentproto/gateway-http/openapi'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fakeGateway, type FakeGateway, OWNER } from './fake-gateway.ts'
import { fakePermissions } from './fake-permissions.ts'
import { almost, type Schema, valueOf } from './schema-arbitrary.ts'

// What the OpenAPI document says is what the gateway does: each operation is called with input made from the document,
// input that it takes and input that it does not, and each answer is held against what the document says of it.

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}
interface Operation {
  readonly security?: readonly unknown[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const schemaFile = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${name}.schema.json`, import.meta.url), 'utf8')) as object
const whole = openApiDocument({
  version: '1.2.3',
  schemas: { session: schemaFile('session'), event: schemaFile('stream-event') },
})
const document = whole as unknown as Document
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(whole, 'gateway')

const ci = { name: 'ci', scope: 'read', createdAt: '2026-11-21T00:00:00.000Z' } as const
const tokenOf = (name: string) => {
  if (name !== ci.name) throw new AgentprotoError('token_not_found', 'There is no such token', { given: name })
  return { ...ci, token: 'value' }
}
const fakeTokens: TokenService = {
  list: async () => [ci],
  create: async ({ name, scope }) => ({ ...ci, name, scope, token: 'value' }),
  revoke: async (name) => {
    tokenOf(name)
    return { ended: ['child'], kept: [] }
  },
  rotate: async (name) => ({ ...tokenOf(name), ended: [], kept: ['child'] }),
}

const fakeBrowsers: BrowserLogin = {
  code: () => ({ code: 'c', expiresAt: '2026-11-21T00:01:00.000Z' }),
  logOut: async () => undefined,
  caller: ({ name, type }) => ({ name, type, scope: 'read' }),
  exchange: async () => ({ token: 't', name: 'browser-1', expiresAt: '2026-11-21T12:00:00.000Z', maxAgeSeconds: 1 }),
}

/** A gateway with a session that idles, one that has ended and one that asks. */
async function inhabited(): Promise<FakeGateway> {
  const { permissions } = fakePermissions()
  const gateway = fakeGateway({
    openApi: () => Promise.resolve(whole),
    tokens: fakeTokens,
    browsers: fakeBrowsers,
    permissions,
    gateway: () => ({
      version: '1.2.3',
      home: '/home/me/.agentproto',
      startedAt: '2026-11-21T00:00:00.000Z',
      host: 'box',
      node: '20.0.0',
      platform: 'linux',
      budgets: { day: { turns: 5 }, workspaces: { main: { total: { cost: { amount: 1, currency: 'USD' } } } } },
    }),
    metrics: async () => 'agentproto_up 1\n',
  })
  const { sessions, call } = gateway
  await sessions.spawn({ adapter: 'demo', prompt: 'hello' }, OWNER)
  await sessions.spawn({ adapter: 'demo' }, OWNER)
  await sessions.kill('s2', OWNER)
  await sessions.spawn({ adapter: 'demo', prompt: 'ask' }, OWNER)
  await call('POST', '/workspaces', { path: '/work', slug: 'main' })
  return gateway
}

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  id: ['s1', 's2', 's3'],
  requestId: ['r1'],
  ruleId: ['pr_1'],
  // One that is not there: who waits for one that runs waits for long.
  turn: ['2'],
  agent: ['demo'],
  slug: ['demo', 'main'],
  name: ['ci'],
}
const nameOf = (parameter: string): fc.Arbitrary<string> => {
  const strange = fc.constantFrom('nope', '...', '%00', '💥', 'a/b', ' ', '-'.repeat(300))
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...(KNOWN[parameter] ?? [])) }, strange)
}

interface Asked {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

const ACCEPT = fc.constantFrom({}, { accept: 'application/json' }, { accept: 'text/event-stream' })

/** A request to an operation; `make` says what its query and body are made of. */
function requestTo(
  path: string,
  operation: Operation,
  make: (schema: Schema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<Asked> {
  const named = (where: Parameter['in']): Readonly<Record<string, Schema>> =>
    Object.fromEntries(
      operation.parameters.filter((each) => each.in === where).map(({ name, schema }) => [name, schema]),
    )
  const names = fc.record(Object.fromEntries(Object.keys(named('path')).map((name) => [name, nameOf(name)])))
  const required = operation.parameters.flatMap((each) => (each.in === 'query' && each.required ? [each.name] : []))
  const query = make({ type: 'object', properties: named('query'), required })
  const schema = operation.requestBody?.content['application/json'].schema
  const body = schema === undefined ? fc.constant(undefined) : make(schema)
  return fc.tuple(names, query, body, ACCEPT).map(([values, params, content, headers]) => ({
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? '')) + searchOf(params),
    headers,
    body: content,
  }))
}

function searchOf(params: unknown): string {
  if (typeof params !== 'object' || params === null) return ''
  const entries = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`
}

/** Documented 5xx that say what is not there or not offered, whatever the input. */
const HONEST = new Set(['no_adapter_installed', 'not_supported'])

/** Holds an answer against the document. Returns its body. */
async function heldAgainst(operation: Operation, response: Response, at: string): Promise<unknown> {
  const { status } = response
  const [type = 'none'] = response.headers.get('content-type')?.split(';') ?? []
  const described = operation.responses[status]
  const text = await textOf(response, type)
  expect(described, `${at} answers ${status}, which is not documented: ${text}`).toBeDefined()
  expect(Object.keys(described?.content ?? { none: {} }), `${at} ${status}`).toContain(type)
  const body = text === '' || !isJson(type) ? {} : (JSON.parse(text) as { readonly code?: string })
  expect(complaintsOf(body, { at, status, type }), `${at} ${status} ${text}`).toBe('')
  expect(status < 500 || HONEST.has(body.code ?? ''), `${at} ${status} ${text}`).toBe(true)
  return body
}

const isJson = (type: string): boolean => type === 'application/json' || type === 'application/problem+json'

/** A stream is not read: most of them have no end. */
async function textOf(response: Response, type: string): Promise<string> {
  if (type !== 'text/event-stream') return response.text()
  await response.body?.cancel()
  return ''
}

interface Answered {
  readonly at: string
  readonly status: number
  readonly type: string
}

function complaintsOf(body: unknown, { at, status, type }: Answered): string {
  if (!isJson(type)) return ''
  const [method = '', path = ''] = at.split(' ')
  const pointer = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', type, 'schema']
  const place = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  const validate = ajv.getSchema(`gateway#/${place}`)
  if (validate === undefined) return 'it has no schema'
  return validate(body) === true ? '' : ajv.errorsText(validate.errors)
}

test('the document is valid OpenAPI 3.1', async () => {
  expect(await new Validator().validate(structuredClone(whole))).toEqual({ valid: true })
})

/** Every name of a member or parameter that takes a number. */
function numbersOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, Schema>> }
  const own = Object.entries(properties).flatMap(([name, { type }]) =>
    /integer|number/.test(String(type)) ? [name] : [],
  )
  return [...own, ...Object.values(schema).flatMap(numbersOf)]
}

test('F76 a time that a request takes names its unit', () => {
  const taken = operations.flatMap(({ operation }) => [
    ...operation.parameters.flatMap(({ name, schema }) => numbersOf({ properties: { [name]: schema } })),
    ...numbersOf(operation.requestBody),
  ])
  expect(taken).toContain('ttlSeconds')
  const times = taken.filter((name) => /time|ttl|delay|grace|idle|interval|duration|wait|age|expire/i.test(name))
  expect(times.filter((name) => !/(Ms|Seconds)$/.test(name))).toEqual([])
})

test('what the document takes is taken, and answered as the document says', { timeout: 120_000 }, async () => {
  for (const { method, path, operation } of operations) {
    const at = `${method} ${path}`
    const property = fc.asyncProperty(requestTo(path, operation, valueOf), async (asked) => {
      const { call } = await inhabited()
      const body = await heldAgainst(operation, await call(method, asked.path, asked.body, asked.headers), at)
      expect(['invalid_request', 'invalid_json'], JSON.stringify([at, asked, body])).not.toContain(
        (body as { readonly code?: string } | undefined)?.code,
      )
    })
    await fc.assert(property, { seed: 46, numRuns: 15, endOnFailure: true })
  }
})

test(
  'what the document does not take is refused as the document says, never with a 5xx',
  { timeout: 120_000 },
  async () => {
    for (const { method, path, operation } of operations) {
      const at = `${method} ${path}`
      const property = fc.asyncProperty(requestTo(path, operation, almost), async (asked) => {
        const { call } = await inhabited()
        const sent = method === 'GET' || method === 'DELETE' ? undefined : asked.body
        await heldAgainst(operation, await call(method, asked.path, sent, asked.headers), at)
      })
      await fc.assert(property, { seed: 9, numRuns: 25, endOnFailure: true })
    }
  },
)

test('a body that is no JSON, of another type, or too large is refused as the document says', async () => {
  const bodies = [
    ['{', 'application/json', 400],
    ['{"prompt":"x"', 'application/json', 400],
    ['\u{FFFF}', 'application/json', 400],
    ['a=b', 'application/x-www-form-urlencoded', 415],
    ['{}', 'text/plain', 415],
    ['{}', '', 415],
    [`"${'x'.repeat(5 * 1024 * 1024)}"`, 'application/json', 413],
  ] as const
  for (const { method, path, operation } of operations.filter((each) => each.operation.requestBody)) {
    const at = `${method} ${path}`
    const { app } = await inhabited()
    for (const [body, type, status] of bodies) {
      const headers = { authorization: 'Bearer a-token-of-the-owner', 'content-type': type }
      const request = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => KNOWN[name]?.[0] ?? '')
      const response = await app.request(request, { method, headers, body })
      expect(response.status, `${at} ${type}`).toBe(status)
      await heldAgainst(operation, response, at)
    }
  }
})

test('without a token every operation but the open ones is 401, as the document says', async () => {
  const { app } = await inhabited()
  for (const { method, path, operation } of operations) {
    const response = await app.request(path.replaceAll(/[{}]/g, ''), { method })
    const open = operation.security?.length === 0
    // One that is open wants its query all the same.
    const answered = path === '/auth/exchange' ? 400 : 200
    expect([path, response.status]).toEqual([path, open ? answered : 401])
    await heldAgainst(operation, response, `${method} ${path}`)
  }
})

test('a method that the document does not have is 405, and the Allow header names those that it has', async () => {
  const { call } = await inhabited()
  for (const [path, item] of Object.entries(document.paths)) {
    const has = new Set(Object.keys(item).map((method) => method.toUpperCase()))
    const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => KNOWN[name]?.[0] ?? '')
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((each) => !has.has(each))) {
      const response = await call(method, at)
      expect([method, path, response.status]).toEqual([method, path, 405])
      const allowed = response.headers.get('allow')?.split(', ') ?? []
      expect(new Set(allowed)).toEqual(new Set([...has, ...(has.has('GET') ? ['HEAD'] : []), 'OPTIONS']))
    }
  }
})
