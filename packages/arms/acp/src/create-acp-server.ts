import type { AcpServer, AcpServerOptions } from './server/acp-host.js'

/**
 * Serves the sessions of a gateway to one ACP client (AIP-44, kind bridge): it opens, lists, loads, resumes and
 * drives them, answers what their agents ask, and sees what everybody else does in those that it has open. A
 * client that goes away leaves its turns running.
 *
 * The official SDK is loaded with the first server: to drive an agent, which is what most of this package is for,
 * takes less of it.
 * @param options The sessions, how new ones are opened, and the client's input and output
 */
export async function createAcpServer(options: AcpServerOptions): Promise<AcpServer> {
  const { serveClient } = await import('./server/serve.js')
  return serveClient(options)
}
