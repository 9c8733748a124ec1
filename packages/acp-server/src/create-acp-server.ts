import type { AcpServer, AcpServerOptions } from './acp-host.js'
import { lineMessages } from './line-messages.js'
import { serveClient } from './serve-client.js'

/**
 * Serves the sessions of a gateway to one ACP client on a pipe (AIP-44, kind bridge) until the client disconnects: it opens,
 * lists, loads, resumes and drives them, answers what their agents ask, and shows what other clients do in the sessions that
 * it has open. The turns of a client that disconnects keep running.
 */
export function createAcpServer(options: AcpServerOptions): AcpServer {
  return serveClient(options, lineMessages(options))
}
