import { AgentprotoError } from '@agentproto/contracts'
import type { TurnOutcome } from './turn-output.js'

/**
 * What a turn's end means for the exit code: the error to tell, none when it went well. A refused
 * permission outweighs a turn that ended well in spite of it.
 * @param seeMore The command line that shows more
 */
export function turnFailure(
  { reason, refused, empty, error }: TurnOutcome,
  seeMore: string,
): AgentprotoError | undefined {
  const seeLog = { hint: `See what happened with: ${seeMore}` }
  switch (reason) {
    case 'end_turn':
      if (refused > 0) {
        return new AgentprotoError(
          'permission_denied',
          `${refused === 1 ? 'A permission was' : `${refused} permissions were`} refused`,
          {
            hint: 'Allow what the agent may do with --permissions approve-reads or approve-all',
          },
        )
      }
      return empty ? new AgentprotoError('empty_turn', 'The agent answered nothing') : undefined
    case 'cancelled':
      return new AgentprotoError('cancelled', 'The turn was interrupted')
    case 'timeout':
      return new AgentprotoError('timeout', 'The turn took too long')
    case 'session-ended':
      return new AgentprotoError('agent_exited', error ?? 'The agent ended in the middle of the turn', seeLog)
    case 'error':
      return new AgentprotoError('prompt_failed', error ?? 'The agent failed the prompt', seeLog)
    case 'max_tokens':
    case 'max_turn_requests':
    case 'refusal':
      return new AgentprotoError('prompt_failed', `The agent stopped early: ${reason}`)
    default:
      return reason satisfies never
  }
}
