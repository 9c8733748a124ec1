import { AgentprotoError } from '@agentproto/contracts'
import type { Protocol, ProtocolArm } from '@agentproto/contracts'
import { loadAcpArm } from './protocol/acp.js'

/** The arms that there are, each imported when its first agent starts. */
const ARMS: { readonly [P in Protocol]?: () => Promise<ProtocolArm> } = { acp: loadAcpArm }

/** @throws `protocol_unsupported` */
export async function loadArm(protocol: Protocol): Promise<ProtocolArm> {
  const load = ARMS[protocol]
  if (load) return load()
  throw new AgentprotoError('protocol_unsupported', `Agents that speak ${protocol} cannot be driven yet`, {
    expected: `one of ${Object.keys(ARMS).join(', ')}`,
    given: protocol,
  })
}
