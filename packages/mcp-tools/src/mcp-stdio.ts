import type { Principal } from '@agentproto/contracts'
import { BOUNDS } from '@agentproto/contracts/wire'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Readable, Writable } from 'node:stream'
import type { McpDeps } from './services.js'
import { toolServers } from './tool-server.js'

export interface McpStdioOptions {
  /** The only caller. If another gateway answers, that one decides by the token of its client. */
  readonly by: Principal
  readonly input: Readable
  readonly output: Writable
}

/** A connection over two pipes. */
export interface McpStdio {
  /** Settles when the client or `close` has closed the connection; never rejects. */
  readonly closed: Promise<void>
  /** Idempotent. */
  close(): Promise<void>
}

/** Serves the tools to one client over two pipes, in both protocol eras. Only the protocol is written to `output`. */
export function serveMcpStdio(deps: McpDeps, { by, input, output }: McpStdioOptions): McpStdio {
  const serverFor = toolServers(deps)
  const transport = new StdioServerTransport(input, output, { maxBufferSize: BOUNDS.bodyBytes })
  const served = serveStdio(() => serverFor({ by }), {
    transport,
    ...(deps.onError === undefined ? {} : { onerror: deps.onError }),
  })
  const closed = new Promise<void>((resolve) => {
    const over = (): void => resolve()
    for (const event of ['end', 'close', 'error']) input.once(event, over)
    for (const event of ['close', 'error']) output.once(event, over)
  })
  return { closed, close: () => served.close() }
}
