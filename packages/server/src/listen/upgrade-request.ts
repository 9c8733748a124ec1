import { IncomingMessage } from 'node:http'

/** What Node's parser found: the client offers another protocol. */
const OFFERED = Symbol('offered')

/**
 * The class of a server's requests: only one that asks for a WebSocket where there is one leaves HTTP. For all others the
 * header is an offer that is not accepted (RFC 9110 §7.8): Java's client sends `Upgrade: h2c` with each plain request, and
 * Node, once a server has a listener of `upgrade`, would take all of them for upgrades and lose their bodies.
 * `shouldUpgradeCallback` says the same, but only since Node 24.9.
 */
export function requestClass(isWebSocketPath: (path: string) => boolean): typeof IncomingMessage {
  return class ServedRequest extends IncomingMessage {
    declare [OFFERED]: boolean

    get upgrade(): boolean {
      return this[OFFERED] && (this.method === 'CONNECT' || asksForWebSocket(this, isWebSocketPath))
    }

    set upgrade(offered: boolean | null) {
      this[OFFERED] = offered === true
    }
  }
}

/** RFC 6455 §4.1: a GET of HTTP/1.1. */
function asksForWebSocket(
  { method, url = '', headers, httpVersion }: IncomingMessage,
  isWebSocketPath: (path: string) => boolean,
): boolean {
  const isHandshake = method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket'
  return isHandshake && isWebSocketPath(url.split('?', 1)[0] ?? '')
}
