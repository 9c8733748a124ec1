import { createHash } from 'node:crypto'
import { AgentprotoError, defined, type Principal, traceOf } from '@agentproto/contracts'
import {
  type BodyOf,
  type JsonOf,
  type Operation,
  operationOf,
  OPERATIONS,
  type ParamsOf,
  parseWire,
  type QueryOf,
  type Route,
  type SessionBounds,
} from '@agentproto/contracts/wire'
import { etag } from 'hono/etag'
import * as z from 'zod'
import type { HttpApp, HttpContext, HttpDeps } from './http-deps.js'
import { readBody, textReply } from './json-body.js'
import { problem } from './rejection.js'

/** A request to an operation, parsed by its schemas. */
export interface Asked<R extends Route> {
  readonly c: HttpContext
  readonly params: ParamsOf<R>
  readonly query: QueryOf<R>
  readonly body: BodyOf<R>
  /** The caller, with the trace that its request is part of. */
  readonly by: Principal
  /** The sessions that the caller may see; undefined for all. */
  readonly within: SessionBounds | undefined
}

/** What answers an operation: plain data, sent as its definition says, or a response of its own. */
export type Handler<R extends Route> = (asked: Asked<R>) => Response | JsonOf<R> | Promise<Response | JsonOf<R>>

/** A handler for each operation: one that is missing does not compile. */
export type Handlers = { readonly [R in Route]: Handler<R> }

/** Adds the routes of all operations whose service is there. */
export function addRoutes(app: HttpApp, handlers: Handlers, routes: ReadonlyMap<string, readonly Route[]>): void {
  for (const [path, all] of routes) {
    for (const route of all) {
      const handler = serve(route, path, handlers[route] as Handler<Route>)
      const [method] = methodAndPath(route)
      if (method === 'ALL') app.all(path, handler)
      else if (operationOf(route).answers[200]?.etag) app.on(method, path, etag(), handler)
      else app.on(method, path, handler)
    }
    const methods = all.map((route) => methodAndPath(route)[0])
    if (!methods.includes('ALL')) app.all(path, otherMethod(methods))
  }
}

const methodAndPath = (route: Route): [method: string, path: string] => route.split(' ') as [string, string]

/** The operations whose service is there, by path; the routes of a session are also below `/agents/:agent`. */
export function pathsOf(deps: HttpDeps, isIncluded: (operation: Operation) => boolean): ReadonlyMap<string, Route[]> {
  const paths = new Map<string, Route[]>()
  for (const route of Object.keys(OPERATIONS) as Route[]) {
    const operation = operationOf(route)
    if (!isServed(deps, operation) || !isIncluded(operation)) continue
    const [, path] = methodAndPath(route)
    const below = path.startsWith('/sessions/:id') ? [path, `/agents/:agent${path}`] : [path]
    for (const each of below) paths.set(each, [...(paths.get(each) ?? []), route])
  }
  return paths
}

function isServed(deps: HttpDeps, { calls }: Operation): boolean {
  return calls === 'health' || deps[calls.split('.')[0] as keyof HttpDeps] !== undefined
}

/** Parses the request, calls the handler and sends what it returns. */
function serve(route: Route, path: string, handler: Handler<Route>): (c: HttpContext) => Promise<Response> {
  const { query = NO_QUERY, body, answers } = operationOf(route)
  const [[status, answer] = []] = Object.entries(answers)
  return async function answerOperation(c) {
    const result = await handler({
      c,
      params: c.req.param() as ParamsOf<Route>,
      query: parseWire<z.ZodType>(query, c.req.url.includes('?') ? parametersOf(c) : {}, 'query') as QueryOf<Route>,
      body: (body && (await readBody(c, body))) as BodyOf<Route>,
      by: callerOf(c),
      within: c.get('within'),
    })
    if (result instanceof Response) return result
    const content = contentOf(result)
    const location = answer?.location && relativeLocation(c, path, { pattern: answer.location, result })
    // Without a tag, the middleware would clone the response and read the clone: 0.3 ms a request.
    const tag = answer?.etag === true ? `"${createHash('sha1').update(content).digest('base64url')}"` : undefined
    return textReply(content, Number(status), defined({ location, etag: tag }))
  }
}

/** A text of so many characters is encoded once, not again for its tag, its length and its socket: of 17 MB that is 60 ms. */
const LONG_TEXT = 64 * 1024

function contentOf(result: unknown): string | Buffer<ArrayBuffer> {
  const text = JSON.stringify(result)
  return text.length < LONG_TEXT ? text : Buffer.from(text)
}

/** A parameter that is repeated is a list, which only an operation accepts that expects one. */
const parametersOf = (c: HttpContext): Readonly<Record<string, string | readonly string[] | undefined>> =>
  Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
  )

/** A parameter without an effect is worse than an error. */
const NO_QUERY: z.ZodObject = z.strictObject({})

/**
 * The caller, with the trace of its request (W3C Trace Context). Streams use `by` of the context instead: a revoked token
 * is found by the identity of its principal.
 */
function callerOf(c: HttpContext): Principal {
  const by = c.get('by')
  const traceparent = c.req.header('traceparent')
  const trace = traceparent && traceOf({ traceparent, tracestate: c.req.header('tracestate') })
  return trace ? { ...by, trace } : by
}

/**
 * Where a new resource is, relative to the request (RFC 9110 §10.2.2). The app may be mounted below a prefix that was cut
 * off before it sees the request, so an absolute path could be wrong.
 * @param below Path of the route
 */
function relativeLocation(c: HttpContext, below: string, { pattern, result }: Created): string {
  const members = result as Readonly<Record<string, unknown>>
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(members[name])))
  const depth = below.split('/').length - (c.req.path.endsWith('/') ? 1 : 2)
  return '../'.repeat(depth) + path.slice(1)
}

interface Created {
  readonly pattern: string
  readonly result: unknown
}

/** Answers OPTIONS, and refuses what is not supported. @param implied What is supported beside the methods */
export function otherMethod(methods: readonly string[], implied = methods.includes('GET') ? ['HEAD'] : []) {
  const allow = [...methods, ...implied, 'OPTIONS'].join(', ')
  return function answerOtherMethod(c: HttpContext): Response {
    if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
    const error = new AgentprotoError('method_not_allowed', 'The route does not support this method', {
      expected: methods.join(' or '),
      given: c.req.method,
    })
    return problem(error, { allow })
  }
}
