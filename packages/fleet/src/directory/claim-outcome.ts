import { AgentprotoError } from '@agentproto/contracts'

/** What a claim leads to. `fenced` has the host that owns the session, absent when it was deleted. */
export type Confirmation =
  | { readonly type: 'owned'; readonly epoch: number }
  | { readonly type: 'fenced'; readonly owner: string | undefined }
  | { readonly type: 'closed' }

/** @throws what a claim throws when it leads to nothing */
export function epochOf(id: string, outcome: Confirmation): number {
  switch (outcome.type) {
    case 'owned':
      return outcome.epoch
    case 'closed':
      throw closed()
    case 'fenced':
      if (outcome.owner === undefined)
        throw new AgentprotoError('session_not_found', `The session ${id} was deleted in the fleet`)
      throw notTaken(id, `it is the session of ${outcome.owner}`, outcome.owner)
  }
}

/** This host leaves its fleet. */
export const closed = (): AgentprotoError => new AgentprotoError('shutting_down', 'This gateway leaves its fleet')

/** Why a session cannot be had. */
export const notTaken = (id: string, reason: string, host: string | undefined): AgentprotoError =>
  new AgentprotoError(
    'session_live',
    `The session ${id} cannot be had: ${reason}`,
    host === undefined ? {} : { data: { host } },
  )
