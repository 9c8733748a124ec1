import { defined } from '@agentproto/contracts'
import type { AgentCliDocument } from './agent-cli-document.js'
import { type AgentEndpoint, normaliseEndpoint } from './agent-endpoint.js'

/** The protocol, and how to reach the agent with it. */
export type AgentCliWire =
  | {
      readonly protocol: 'acp'
      /** Relative path of the ACP.md. */
      readonly acp: string
      /** Where the agent is reached; absent for one that is launched. */
      readonly endpoint?: AgentEndpoint
    }
  | { readonly protocol: 'mcp'; readonly mcp: McpWire }
  | {
      readonly protocol: 'proprietary'
      /** The npm package whose default export is the client. */
      readonly adapter: string
    }

type McpWire =
  | {
      readonly transport: 'stdio'
      /** Default: the manifest's `bin`. */
      readonly command: string
      readonly args: readonly string[]
    }
  | { readonly transport: 'http' | 'sse'; readonly url: string }

export function normaliseWire({
  protocol,
  acp = '',
  mcp,
  adapter = '',
  bin,
  metadata,
}: AgentCliDocument): AgentCliWire {
  switch (protocol) {
    case 'acp':
      return { protocol, acp, ...defined({ endpoint: normaliseEndpoint(metadata) }) }
    case 'proprietary':
      return { protocol, adapter }
    case 'mcp': {
      const { transport = 'stdio', command = bin, args = [], url = '' } = mcp ?? {}
      return { protocol, mcp: transport === 'stdio' ? { transport, command, args } : { transport, url } }
    }
    default:
      return protocol satisfies never
  }
}

/** The address of an agent that is not launched here; undefined for one that is. */
export function remoteAddress(wire: AgentCliWire): string | undefined {
  switch (wire.protocol) {
    case 'acp':
      return wire.endpoint?.url
    case 'mcp':
      return wire.mcp.transport === 'stdio' ? undefined : wire.mcp.url
    case 'proprietary':
      return undefined
    default:
      return wire satisfies never
  }
}
