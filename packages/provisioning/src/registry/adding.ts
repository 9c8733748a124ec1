import type { AddAgentEvent, AddAgentRequest } from '@agentproto/contracts/wire'
import type { RegistryParts } from './registry-parts.js'

/** What the user allows an agent of the registry. */
export type AgentTrust = Pick<AddAgentRequest, 'sha256' | 'allowUnverified' | 'allowScripts' | 'force'> & {
  readonly replaceEdited?: boolean | undefined
}

export interface Adding {
  readonly parts: RegistryParts
  readonly emit: (event: AddAgentEvent) => void
  readonly signal: AbortSignal
}
