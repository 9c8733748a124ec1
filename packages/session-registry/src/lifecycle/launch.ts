import type { Principal } from '@agentproto/contracts'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import type { Fork } from './fork.js'

/** What a session starts with. */
export interface Launch extends Pick<SpawnAgentRequest, 'prompt'> {
  readonly stored: Omit<Fork, 'origin'>
  readonly origin: Fork['origin']
  readonly by: Principal
}
