import { traceOf, type Principal } from '@agentproto/contracts'
import type { HttpContext } from './http-deps.js'

/**
 * Who calls, with the trace that the request says it is part of (W3C Trace Context). Whoever ends with its token, as
 * streams do, asks for `by` itself: a token is told by the identity of its principal.
 */
export function callerOf(c: HttpContext): Principal {
  const by = c.get('by')
  const traceparent = c.req.header('traceparent')
  const trace = traceparent && traceOf({ traceparent, tracestate: c.req.header('tracestate') })
  return trace ? { ...by, trace } : by
}
