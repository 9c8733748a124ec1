import { EXIT } from '@agentproto/contracts'
import { clientServices } from '../client-services.js'
import { connect } from '../daemon/daemon.js'
import { print, type Io } from '../io.js'
import { version } from '../version.js'

/**
 * `agentproto mcp`: the gateway's MCP tools for the client on stdin and stdout, until it goes away. What it began
 * runs on.
 */
export async function serveMcp(io: Io): Promise<number> {
  const client = await connect(io)
  await client.health()
  const { serveMcpStdio } = await import('@agentproto/mcp-tools')
  const server = serveMcpStdio(
    {
      ...clientServices(client),
      version: version(),
      onError: (error) => print(io.stderr, `agentproto: ${error instanceof Error ? error.message : String(error)}`),
    },
    // The gateway knows whose the token is; nothing here asks.
    { by: { type: 'owner', name: 'mcp' }, input: io.stdin, output: io.stdout },
  )
  await server.closed
  await server.close()
  return EXIT.ok
}
