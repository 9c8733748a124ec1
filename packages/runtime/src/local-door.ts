import { AgentprotoError, type Authenticate } from '@agentproto/contracts'
import { bearerOf, type HttpApp } from '@agentproto/gateway-http'

/**
 * What is served on loopback beside a listener that is TLS or elsewhere: agents and the command line would not trust its
 * certificate, have none to show, or are not let in by its address. Named tokens, which other people have, come by the
 * front alone.
 */
export function localDoor(app: HttpApp, authenticate: Authenticate): (request: Request) => Promise<Response> {
  return async function answerLocally(request) {
    const token = bearerOf(request.headers.get('authorization'))
    const isNamed = token !== undefined && authenticate(token)?.type === 'token'
    return isNamed ? refusal() : app.fetch(request)
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
