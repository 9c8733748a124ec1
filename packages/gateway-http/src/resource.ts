import { AgentprotoError } from '@agentproto/contracts'
import type { HttpApp, HttpContext } from './http-deps.js'
import { problem } from './problem-reply.js'

type Handler = (c: HttpContext) => Response | Promise<Response>
type Methods = Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', Handler>>>

/**
 * Registers a path with all of its methods, so that any other is answered 405 and OPTIONS tells them. HEAD
 * comes with GET: Hono runs the handler and drops the body.
 */
export function resource(app: HttpApp, path: string, methods: Methods): void {
  for (const [method, handler] of Object.entries(methods)) app.on(method, path, handler)
  const names = Object.keys(methods)
  const allow = [...names, ...(methods.GET ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  app.all(path, function answerOtherMethod(c) {
    if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
    const error = new AgentprotoError('method_not_allowed', 'The route does not take this method', {
      expected: names.join(' or '),
      given: c.req.method,
    })
    return problem(error, { allow })
  })
}

/** A named part of the path; there is always one where the route has it. */
export const param = (c: HttpContext, name: string): string => c.req.param(name) ?? ''
