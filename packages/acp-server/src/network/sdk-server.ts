import { AcpServer as SdkServer } from '@agentclientprotocol/sdk/experimental/server'
import type { Stream } from '@agentclientprotocol/sdk'
import type { AcpLimits } from './acp-endpoint.js'

// The only file that knows the SDK's transport, which is experimental: streamable HTTP as the public proposal has it.

export const CONNECTION_ID = 'acp-connection-id'
export const SESSION_ID = 'acp-session-id'

/** The SDK prints a line when a limit of time is reached: ours, so many times shorter, comes first. */
const LATER = 10

/** Serves the client at the other end of a stream. */
type Serve = (stream: Stream) => { readonly closed: Promise<void> }

/** Streamable HTTP: `initialize` opens a connection, every other request names one. */
export interface StreamableHttp {
  /** @param serve For a request that may open a connection */
  handle(request: Request, serve?: Serve): Promise<Response>
  /** Ends a connection, if it is open. */
  end(connectionId: string): Promise<void>
  close(): Promise<void>
}

export function createStreamableHttp({ outputBytes, stallMs, idChars }: AcpLimits): StreamableHttp {
  const server = new SdkServer({
    createAgent() {
      throw new Error('A connection is opened with an agent of its own')
    },
    maxBufferedBytes: outputBytes,
    maxOutputStallMs: stallMs * LATER,
    // A connection names a bounded number of sessions.
    maxBufferedSessionStreams: Number.MAX_SAFE_INTEGER,
    maxIdLength: idChars,
  })
  return {
    handle: (request, serve) =>
      server.handleRequest(request, serve && { createAgent: () => ({ connect: (stream: Stream) => serve(stream) }) }),
    async end(connectionId) {
      const headers = { [CONNECTION_ID]: connectionId }
      await server.handleRequest(new Request('http://localhost/acp', { method: 'DELETE', headers }))
    },
    close: () => server.close(),
  }
}
