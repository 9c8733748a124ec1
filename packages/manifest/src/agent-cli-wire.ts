import type { AgentCliDocument } from './agent-cli-document.js'

/** The protocol, and how to reach the agent with it. */
export type AgentCliWire =
  | {
      readonly protocol: 'acp'
      /** Relative path of the ACP.md. */
      readonly acp: string
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

export function normaliseWire({ protocol, acp = '', mcp, adapter = '', bin }: AgentCliDocument): AgentCliWire {
  switch (protocol) {
    case 'acp':
      return { protocol, acp }
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
