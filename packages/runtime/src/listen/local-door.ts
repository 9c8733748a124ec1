import { AgentprotoError, type Authenticate } from '@agentproto/contracts'
import { bearerOf, type HttpApp } from '@agentproto/gateway-http'
import type { Refusal } from '../audit/refusals.js'

export interface LocalDoorOptions {
  readonly authenticate: Authenticate
  /** Told of a named token that knocked. Must not throw. */
  readonly onRefused: (refusal: Refusal) => void
}

/**
 * What is served on loopback beside a listener that is TLS or elsewhere: agents and the command line would not trust its
 * certificate, have none to show, or are not let in by its address. Named tokens, which other people have, come by the
 * front alone.
 */
export function localDoor(
  app: HttpApp,
  { authenticate, onRefused }: LocalDoorOptions,
): (request: Request, env: object) => Promise<Response> {
  return async function answerLocally(request, env) {
    const token = bearerOf(request.headers.get('authorization'))
    const by = token === undefined ? undefined : authenticate(token)
    // A browser's cookie stands for one.
    const isNamed = token === undefined ? request.headers.has('cookie') : by?.type === 'token'
    if (!isNamed) return app.fetch(request, env)
    const { method, url } = request
    const who = by === undefined ? {} : { by }
    onRefused({ code: 'forbidden', ...who, method, path: new URL(url).pathname, from: 'loopback' })
    return refusal()
  }
}

function refusal(): Response {
  const problem = new AgentprotoError('forbidden', 'Named tokens are not let in here', {
    expected: 'the owner’s token or a session’s',
    hint: 'Call the address that `agentproto status` tells',
  }).toProblem()
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' }
  return new Response(JSON.stringify(problem), { status: problem.status, headers })
}
