import type { AcpCaller, AcpSocket } from '@agentproto/contracts/wire'
import type { HttpContext, HttpDeps } from '../http-deps.js'
import { assertNotEncoded } from '../json-body.js'
import { type Handlers, otherMethod } from '../route.js'
import type { Streams } from '../streams/streams.js'

const METHODS = ['GET', 'POST', 'DELETE']

/** ACP for remote clients: what they send and get is the endpoint's, who they are and how much they hold is checked here. */
export function acpHandlers(deps: HttpDeps, streams: Streams) {
  const { adapters, revoked } = deps
  const { acp } = deps as Required<HttpDeps>
  const refuse = otherMethod(METHODS, [])

  async function answer(c: HttpContext, caller: AcpCaller): Promise<Response> {
    // A HEAD would open a stream that no client reads.
    if (!METHODS.includes(c.req.method)) return refuse(c)
    assertNotEncoded(c)
    const { openWebSocket } = (c.env ?? {}) as ServerEnv
    if (openWebSocket !== undefined) return upgrade(openWebSocket, caller)
    const open = (): Promise<Response> => acp.fetch(c.req.raw, caller)
    return unkept(c.req.method === 'GET' ? await streams.pass(c, open) : await open())
  }

  async function upgrade(openWebSocket: OpenWebSocket, caller: AcpCaller): Promise<Response> {
    const place = await acp.upgrade(caller)
    const headers = { 'acp-connection-id': place.connectionId }
    try {
      return await openWebSocket({ headers, onOpen: (socket) => place.accept(socket) })
    } catch (thrown) {
      place.reject()
      throw thrown
    }
  }

  return {
    'ALL /acp': ({ c, by }) => answer(c, { by, ended: revoked?.(c.get('by')) }),
    async 'ALL /acp/:agent'({ c, by, params: { agent } }) {
      await adapters.get(agent)
      return answer(c, { by, ended: revoked?.(c.get('by')), agent })
    },
  } satisfies Partial<Handlers>
}

function unkept(response: Response): Response {
  response.headers.set('cache-control', 'no-store')
  response.headers.set('x-content-type-options', 'nosniff')
  return response
}

type OpenWebSocket = (opening: {
  readonly headers: Readonly<Record<string, string>>
  readonly onOpen: (socket: AcpSocket) => void
}) => Promise<Response>

/** What the server gives with a request that asks for a WebSocket. Another server gives nothing: it has none. */
interface ServerEnv {
  /** @returns what is answered then: it is already sent */
  readonly openWebSocket?: OpenWebSocket
}
