import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import type { ClientCapabilities, Stream } from '@agentclientprotocol/sdk'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { type AcpUser, connectUser } from './acp-user.js'

/** The ways over the network to the sessions of a gateway. */
export const NETWORK_WIRES = ['http', 'websocket'] as const

export type NetworkWire = (typeof NETWORK_WIRES)[number]

/** Where a client connects, and as what. */
export interface Place {
  readonly url: string
  readonly token: string
  /** Default `/acp/demo`. */
  readonly path?: string
}

/** The client of the SDK over a wire. Disconnected after the test. */
export async function overNetwork(
  wire: NetworkWire,
  place: Place,
  capabilities: ClientCapabilities = {},
): Promise<AcpUser> {
  const user = await connectUser(streamTo(wire, place), capabilities)
  onTestFinished(() => user.leave())
  return user
}

/** The SDK's stream for a wire. */
function streamTo(wire: NetworkWire, { url, token, path = '/acp/demo' }: Place): Stream {
  const headers = { authorization: `Bearer ${token}` }
  if (wire === 'http') return createHttpStream(url + path, { headers })
  return createWebSocketStream(url.replace('http', 'ws') + path, { headers, WebSocket: Socket })
}

/** The types of the SDK say that the third parameter has no further members. */
class Socket extends WebSocket {}
