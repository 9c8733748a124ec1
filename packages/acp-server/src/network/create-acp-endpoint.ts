import type { AcpServer } from '../acp-host.js'
import type { ClientMessages } from '../client-messages.js'
import { serveClient } from '../serve-client.js'
import { ACP_BOUNDS, type AcpCaller, type AcpSocket } from '@agentproto/contracts/wire'
import type { AcpEndpoint, AcpEndpointDeps } from './acp-endpoint.js'
import { type Connection, Connections, SHUTTING_DOWN, whenEnding } from './connections.js'
import type { HttpOptions } from './http-connections.js'
import { CLIENT_ID, OneStreamConnections } from './one-stream.js'
import { servedCaller } from './served-caller.js'
import { GOING_AWAY, POLICY, SocketMessages } from './socket-messages.js'

/**
 * Serves the sessions of this gateway to ACP clients over the network. Every connection belongs to the caller that opened it,
 * and what it does is decided by that caller's scope and bounds; a turn belongs to its session, so a client that is gone
 * changes nothing.
 */
export function createAcpEndpoint(deps: AcpEndpointDeps): AcpEndpoint {
  const limits = { ...ACP_BOUNDS, ...deps.limits }
  const { clock } = deps
  const connections = new Connections(limits)
  const served = new Set<AcpServer>()
  const oneStream = new OneStreamConnections({ connections, limits, clock, serve })
  let http: Promise<Http> | undefined

  function serve(caller: AcpCaller, messages: ClientMessages): AcpServer {
    const server = serveClient(servedCaller(deps, caller, limits), messages)
    served.add(server)
    void server.closed.then(() => served.delete(server))
    return server
  }

  function accept(socket: AcpSocket, place: Connection): void {
    const messages = new SocketMessages(socket, { limits, clock, onEnd: () => place.leave() })
    const server = serve(place.caller, messages)
    void server.closed.then(() => messages.end('The connection was closed'))
    whenEnding(place, (why) => messages.end(why, why === SHUTTING_DOWN ? GOING_AWAY : POLICY))
  }

  return {
    async fetch(request, caller) {
      if (request.headers.has(CLIENT_ID)) return oneStream.fetch(request, caller)
      http ??= loadHttp({ connections, limits, clock, serve })
      return (await http).fetch(request, caller)
    },
    upgrade(caller) {
      const place = connections.open(caller)
      return {
        connectionId: crypto.randomUUID(),
        accept: (socket) => accept(socket, place),
        reject: () => place.leave(),
      }
    },
    async close() {
      connections.close()
      await Promise.all([...served].map(({ closed }) => closed))
      await (await http)?.close()
    },
  }
}

type Http = Pick<AcpEndpoint, 'fetch' | 'close'>

/** Loaded for the first request of HTTP: WebSockets need none of it. */
async function loadHttp(options: Omit<HttpOptions, 'http'>): Promise<Http> {
  const [{ createStreamableHttp }, { HttpConnections }] = await Promise.all([
    import('./sdk-server.js'),
    import('./http-connections.js'),
  ])
  const http = createStreamableHttp(options.limits)
  const connections = new HttpConnections({ ...options, http })
  return { fetch: (request, caller) => connections.fetch(request, caller), close: () => http.close() }
}
