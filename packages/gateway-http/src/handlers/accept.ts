import type { HttpContext } from '../http-deps.js'

/** Whether a caller asks for server-sent events: it names them, and not JSON beside them. */
export function wantsEventStream(c: HttpContext): boolean {
  const accept = c.req.header('accept')
  return accept !== undefined && accept.includes('text/event-stream') && !accept.includes('application/json')
}
