// The OpenAPI document of the gateway. It is an entry point of its own because it needs all of zod, and most gateways are
// never asked for it.
import { defined, type ErrorCode, ERRORS, type Json } from '@agentproto/contracts'
import { type Answer, eventSchema, type Operation, OPERATIONS, sessionSchema } from '@agentproto/contracts/wire'
import * as z from 'zod'

/** JSON Schemas that are files of their own. */
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

/** The OpenAPI 3.1 document of the gateway, made from the table of operations. What speaks MCP or ACP is not in it. */
export function openApiDocument({ version, schemas }: OpenApiOptions): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [route, operation] of Object.entries<Operation>(OPERATIONS)) {
    const [method = '', path = ''] = route.split(' ')
    if (method === 'ALL') continue
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
    // Relative to the document, so that it is right below any prefix and behind any proxy.
    servers: [{ url: '.', description: 'The gateway that served this document' }],
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
  const { name, summary, query, body, scope, answers } = operation
  return {
    operationId: name,
    tags: [path.split('/')[1]],
    summary,
    ...(scope === 'open' ? { security: [] } : {}),
    parameters: [...pathParameters(path), ...(query ? queryParameters(query) : []), ...headerParameters(answers)],
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, response(answer)])),
      ...problems(operation),
    },
  }
}

const pathParameters = (path: string): readonly Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))

function queryParameters(query: z.ZodObject): readonly Json[] {
  const { properties = {}, required = [] } = jsonSchema(query, 'output') as {
    readonly properties?: Readonly<Record<string, Json>>
    readonly required?: readonly string[]
  }
  // A member with a default is required of the parsed query, and not of the caller.
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name) && !('default' in schema),
    schema,
  }))
}

function headerParameters(answers: Operation['answers']): readonly Json[] {
  const all = Object.values(answers)
  const names = [
    ...(all.some(({ etag }) => etag) ? ['If-None-Match'] : []),
    ...(all.some(({ stream, streamOnly }) => stream !== undefined || streamOnly) ? ['Last-Event-ID'] : []),
  ]
  return names.map((name) => ({ name, in: 'header', required: false, schema: { type: 'string' } }))
}

const requestBody = (body: z.ZodType): Json => ({
  required: !body.safeParse({}).success,
  content: { 'application/json': { schema: jsonSchema(body, 'input') } },
})

function response({ description, schema, stream, streamOnly, text = [], location, etag, cookie }: Answer): Json {
  const asText = { schema: { type: 'string' } }
  const headers = defined({
    Location: location && asText,
    ETag: etag && asText,
    'Set-Cookie': cookie && asText,
  })
  const messages = stream ?? (streamOnly && description)
  const content = {
    ...defined({
      'application/json': schema && { schema: jsonSchema(schema, 'input') },
      'text/event-stream': messages && { schema: { type: 'string', description: messages } },
    }),
    ...Object.fromEntries(text.map((type) => [type, asText])),
  }
  return { description, headers, ...(Object.keys(content).length > 0 && { content }) }
}

/** Errors of every operation, and of every one with a token or a body. */
const ALWAYS: readonly ErrorCode[] = ['host_not_allowed', 'origin_not_allowed', 'invalid_request', 'internal']
const WITH_TOKEN: readonly ErrorCode[] = [
  'unauthorized',
  'forbidden',
  'delegation_denied',
  'request_limit_reached',
  'shutting_down',
]
const WITH_BODY: readonly ErrorCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type', 'cancelled']

/** Problem documents, grouped by their status. */
function problems({ errors = [], body, scope }: Operation): Readonly<Record<string, Json>> {
  const codes = new Set<ErrorCode>([
    ...ALWAYS,
    ...(scope === 'open' ? [] : WITH_TOKEN),
    ...(body === undefined ? [] : WITH_BODY),
    ...errors,
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
      schema: { allOf: [{ $ref: '#/components/schemas/Problem' }, { properties: { code: { enum: codes } } }] },
    },
  },
})

const PROBLEM: Json = {
  title: 'RFC 9457 problem document',
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'retryable'],
  properties: {
    ...Object.fromEntries(
      ['type', 'title', 'detail', 'expected', 'given', 'hint'].map((name) => [name, { type: 'string' }]),
    ),
    status: { type: 'integer' },
    code: { type: 'string', description: 'Stable; a code of the table of errors' },
    retryable: { type: 'boolean' },
  },
}

const REFERENCES = new Map<unknown, string>([
  [sessionSchema, 'Session'],
  [eventSchema, 'Event'],
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

/** A schema of its own file as a component: a reference to its root becomes one to the component. */
function component(schema: object, name: string): unknown {
  const { $schema: _dialect, $id: _id, ...rest } = schema as Json
  return JSON.parse(JSON.stringify(rest).replaceAll('"#/$defs/', `"#/components/schemas/${name}/$defs/`))
}
