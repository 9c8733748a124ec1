import { ERRORS, type ErrorCode } from '@agentproto/contracts'
import * as z from 'zod'
import { event, session } from './answers.js'
import { archiveOperations } from './archive-operations.js'
import { hostOperations } from './host-operations.js'
import type { Answer, Operation, Operations } from './operation.js'
import { ruleOperations } from './rule-operations.js'
import { sessionOperations } from './session-operations.js'

/** JSON Schemas of what has a schema of its own already. */
export interface OpenApiSchemas {
  /** `session.schema.json` */
  readonly session: object
  /** `stream-event.schema.json` */
  readonly event: object
}

export interface OpenApiOptions {
  /** Of the gateway. */
  readonly version: string
  readonly schemas: OpenApiSchemas
}

const operations: Operations = { ...sessionOperations, ...archiveOperations, ...ruleOperations, ...hostOperations }

type Json = Readonly<Record<string, unknown>>

/**
 * The OpenAPI 3.1 document of the gateway, made from the schemas that its handlers parse with. `/mcp` speaks MCP and
 * is not in it.
 */
export function openApiDocument({ version, schemas }: OpenApiOptions): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [route, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = route.split(' ')
    const item = (paths[path.replaceAll(/:(\w+)/g, '{$1}')] ??= {})
    item[method.toLowerCase()] = operationObject(operation, path)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'agentproto gateway',
      version,
      description: 'Starts, drives and watches agent CLIs (AIP-46). Readers ignore members that they do not know.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // As seen from the document: below whatever prefix, and behind whatever proxy, it is served.
    servers: [{ url: '.', description: 'The gateway that this document came from' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: {
        Session: component(schemas.session, 'Session'),
        Event: component(schemas.event, 'Event'),
        Problem: PROBLEM,
      },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'In the file `token` of the home' } },
    },
  }
}

function operationObject(operation: Operation, path: string): Json {
  const { id, summary, query, body, open } = operation
  return {
    operationId: id,
    tags: [path.split('/')[1]],
    summary,
    ...(open === true ? { security: [] } : {}),
    parameters: [
      ...pathParameters(path),
      ...(query === undefined ? [] : queryParameters(query)),
      ...headers(operation),
    ],
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: { ...answers(operation), ...problems(operation) },
  }
}

const pathParameters = (path: string): readonly Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))

function queryParameters(query: z.ZodObject): readonly Json[] {
  const { properties = {}, required = [] } = jsonSchema(query, 'output') as {
    readonly properties?: Readonly<Record<string, Json>>
    readonly required?: readonly string[]
  }
  // What has a default is required of what is parsed, and not of who asks.
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name) && !('default' in schema),
    schema,
  }))
}

function headers({ answers: all }: Operation): readonly Json[] {
  const given = Object.values(all)
  const streams = given.some(({ stream, streamOnly }) => stream !== undefined || streamOnly === true)
  const names = [
    ...(given.some((each) => each.headers?.includes('ETag')) ? ['If-None-Match'] : []),
    ...(streams ? ['Last-Event-ID'] : []),
  ]
  return names.map((name) => ({ name, in: 'header', required: false, schema: { type: 'string' } }))
}

const requestBody = (body: z.ZodType): Json => ({
  required: !body.safeParse({}).success,
  content: { 'application/json': { schema: jsonSchema(body, 'input') } },
})

function answers({ answers: all }: Operation): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(all).map(([status, each]) => [status, response(each)]))
}

function response({ description, schema, stream, streamOnly, text, headers: names = [] }: Answer): Json {
  const content = {
    ...(schema === undefined ? {} : { 'application/json': { schema: jsonSchema(schema, 'output') } }),
    ...(stream === undefined && streamOnly !== true
      ? {}
      : {
          'text/event-stream': { schema: { type: 'string', ...(stream === undefined ? {} : { description: stream }) } },
        }),
    ...Object.fromEntries([text ?? []].flat().map((type) => [type, { schema: { type: 'string' } }])),
  }
  return {
    description,
    ...(names.length === 0
      ? {}
      : { headers: Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }])) }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  }
}

/** What every route may answer, and what every one with a body, a query or a token may. */
const ALWAYS: readonly ErrorCode[] = ['host_not_allowed', 'origin_not_allowed', 'internal']
const WITH_TOKEN: readonly ErrorCode[] = ['unauthorized', 'forbidden', 'delegation_denied', 'shutting_down']
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
  'cancelled',
]

/** Problem documents, grouped by their status. */
function problems({ problems: own = [], body, query, open }: Operation): Readonly<Record<string, Json>> {
  const codes = new Set([
    ...ALWAYS,
    ...(open === true ? [] : WITH_TOKEN),
    ...(body === undefined ? [] : WITH_BODY),
    ...(query === undefined ? [] : (['invalid_request'] as const)),
    ...own,
  ])
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of [...codes].toSorted()) {
    const { status } = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries([...byStatus].map(([status, group]) => [status, problem(group)]))
}

const problem = (codes: readonly ErrorCode[]): Json => ({
  description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
  content: {
    'application/problem+json': {
      schema: {
        allOf: [{ $ref: '#/components/schemas/Problem' }, { properties: { code: { enum: codes } } }],
      },
    },
  },
})

const PROBLEM: Json = {
  title: 'RFC 9457 problem document',
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'retryable'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'Stable; one of the table of error codes' },
    detail: { type: 'string' },
    retryable: { type: 'boolean' },
    expected: { type: 'string' },
    given: { type: 'string' },
    hint: { type: 'string' },
  },
}

const REFERENCES = new Map<unknown, string>([
  [session, 'Session'],
  [event, 'Event'],
])

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    override({ zodSchema, jsonSchema: json }) {
      const name = REFERENCES.get(zodSchema)
      if (name !== undefined) json.$ref = `#/components/schemas/${name}`
    },
  })
  return rest
}

/** A schema of its own file as a component: what refers to its root refers to the component's. */
function component(schema: object, name: string): unknown {
  const { $schema: _dialect, $id: _id, ...rest } = schema as Json
  return JSON.parse(JSON.stringify(rest).replaceAll('"#/$defs/', `"#/components/schemas/${name}/$defs/`))
}
