import type { Command } from 'commander'
import type { AcpOptions } from '../commands/acp.js'
import type { Run } from '../io.js'
import { adapterOption, permissionsOption } from './option-values.js'

const ACP_HELP = `
Examples:
  $ agentproto acp --adapter opencode              as an editor runs it; see docs/ide.md
  $ agentproto acp --session try                   the client's session is that one

With acpx: acpx --agent "agentproto acp --adapter demo" exec "hello"

Nothing but the protocol is written to stdout; what a client began runs on when it goes away.`

const MCP_HELP = `
Examples:
  $ agentproto mcp                                 as a client runs it; see docs/mcp.md

With Claude Code: claude mcp add agentproto -- agentproto mcp

Nothing but the protocol is written to stdout. A client that speaks HTTP can use the gateway's /mcp instead.`

/** The commands that programs run, and not people: a protocol on stdin and stdout. */
export function addBridgeCommands(program: Command, run: Run): void {
  program
    .command('acp')
    .description('be an ACP agent on stdin and stdout, for editors: the sessions of the running gateway')
    .option('--adapter <slug>', 'adapter of sessions that the client opens (default: the one that is installed)')
    .option('--session <id>', 'the session that the client gets when it opens one')
    .option('--workspace <slug>', "folder of new sessions, instead of the client's")
    .option('--label <text>', 'a name to find new sessions by')
    .option('--mode <id>', "one of the adapter's modes")
    .addOption(adapterOption())
    .addOption(permissionsOption())
    .option('--login', 'log the agent in at this terminal, and end; editors run it')
    .addHelpText('after', ACP_HELP)
    .action((options: AcpOptions) => run(async (io) => (await import('../commands/acp.js')).serveAcp(io, options)))
  program
    .command('mcp')
    .description('be an MCP server on stdin and stdout: the tools of the running gateway')
    .addHelpText('after', MCP_HELP)
    .action(() => run(async (io) => (await import('../commands/mcp.js')).serveMcp(io)))
}
