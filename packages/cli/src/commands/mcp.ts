import type { Define } from '../cli-command.js'
import { raw, warn, type CliContext } from '../cli-context.js'
import { clientServices } from '../client-services.js'
import { connect } from '../daemon/connect.js'
import { version } from '../version.js'

const HELP = `
Examples:
  $ agentproto mcp                                 as an MCP client runs it; see docs/mcp.md

With Claude Code: claude mcp add agentproto -- agentproto mcp

stdout carries only the protocol. A client that speaks HTTP can use the gateway's /mcp instead.`

export const define: Define = (command) =>
  command
    .description('serve the tools of the gateway as an MCP server on stdin and stdout')
    .addHelpText('after', HELP)
    .run(serveMcp)

/** Serves until the client disconnects. The sessions that it started keep running. */
async function serveMcp(context: CliContext): Promise<void> {
  const client = await connect(context)
  // Fails now, and not at the first request of the MCP client, when the gateway does not answer.
  await client.health()
  const { serveMcpStdio } = await import('@agentproto/mcp-tools')
  const server = serveMcpStdio(
    {
      ...clientServices(client),
      version: version(),
      onError: (error) => warn(context, error instanceof Error ? error.message : String(error)),
    },
    // The gateway identifies the caller by its token; nothing here decides by this name.
    { by: { type: 'owner', name: 'mcp' }, input: context.stdin, output: raw(context.stdout) },
  )
  await server.closed
  await server.close()
}
