import type { AgentprotoError } from '@agentproto/contracts'
import type { HttpContext, HttpDeps } from './http-deps.js'

/** Marks a request that is refused before any service is asked, which would tell of it itself. */
export function turnedAway(c: HttpContext, refusal: AgentprotoError): AgentprotoError {
  c.set('turnedAway', true)
  return refusal
}

/** Tells of a request that was marked. */
export function tellRefused(
  { onRefused }: Pick<HttpDeps, 'onRefused'>,
  c: HttpContext,
  { code }: AgentprotoError,
): void {
  if (onRefused === undefined || c.get('turnedAway') !== true) return
  // The principal is not known before its token is.
  const by = c.get('by') as HttpContext['var']['by'] | undefined
  const from = remoteAddress(c.env)
  const { method, path } = c.req
  onRefused({ code, method, path, ...(by === undefined ? {} : { by }), ...(from === undefined ? {} : { from }) })
}

/** What `@hono/node-server` hands to an app beside the request; other servers hand something else, or nothing. */
function remoteAddress(env: unknown): string | undefined {
  const incoming = memberOf(env, 'incoming')
  const address = memberOf(memberOf(incoming, 'socket'), 'remoteAddress')
  return typeof address === 'string' ? address : undefined
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
