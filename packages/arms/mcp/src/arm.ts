import { adoptProcess, connectProcess } from '@agentproto/arm-kit'
import type {
  AdoptedSession,
  AgentSink,
  ArmAdoptOptions,
  ArmConnection,
  ArmConnectOptions,
  ProtocolArm,
} from '@agentproto/contracts/agent'
import { lineCarrier } from './carrier.js'
import { McpClient } from './client.js'
import { parseProfile } from './profile.js'
import { connectRemote } from './remote-connection.js'

/** An agent that is an MCP server, on the stdio of a process or behind a URL (AIP-45 `protocol: mcp`). */
export const mcpArm: ProtocolArm = { protocol: 'mcp', connect: connectMcp, adopt: adoptMcp }

/**
 * Connects with an agent that is an MCP server. `options.profile` is a {@link McpProfileInput}; without one, the
 * agent is on stdio and its tools are found by their shape.
 * @throws `manifest_invalid` for a wrong profile; `cwd_invalid`, `agent_not_installed`, `spawn_failed`,
 * `handshake_failed`, `auth_required`, `timeout`, `cancelled`; nothing of the agent lives then
 */
export async function connectMcp(options: ArmConnectOptions): Promise<ArmConnection> {
  const profile = parseProfile(options.profile)
  if (profile.transport !== 'stdio') return connectRemote(options, profile)
  const { cwd } = options.launch
  return connectProcess(options, (write) => new McpClient({ ...options, profile, cwd, carrier: lineCarrier(write) }))
}

/**
 * Goes on with a server on stdio and its session that an earlier host has started.
 * @throws `manifest_invalid` for a wrong profile; `not_adoptable`. The server is left as it is
 */
async function adoptMcp(
  options: ArmAdoptOptions,
  sink: AgentSink,
): Promise<{ connection: ArmConnection; session: AdoptedSession }> {
  const profile = parseProfile(options.profile)
  const { cwd } = options.launch
  return adoptProcess(
    options,
    sink,
    (write) => new McpClient({ ...options, profile, cwd, carrier: lineCarrier(write) }),
  )
}
