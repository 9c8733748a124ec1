import { AgentprotoError } from '@agentproto/contracts'
import type { TurnOutcome } from './turn-output.js'

/**
 * The error that a turn's end means for the command, if any. A refused permission is an error even when the turn ended
 * normally.
 * @param detailsCommand The command that shows more
 * @param allowCommand The command that allows more; without one, an option of the same command does
 */
export function turnFailure(
  { reason, refused, empty, error }: TurnOutcome,
  detailsCommand: string,
  allowCommand?: string,
): AgentprotoError | undefined {
  const seeLog = { hint: `See what happened with: ${detailsCommand}` }
  switch (reason) {
    case 'end_turn':
      if (refused > 0) return refusal(refused, '', allowCommand)
      return empty ? new AgentprotoError('empty_turn', 'The agent gave no answer') : undefined
    case 'cancelled':
      // Some agents end their turn after a refusal.
      if (refused > 0) return refusal(refused, ', and the turn was interrupted', allowCommand)
      return new AgentprotoError('cancelled', 'The turn was interrupted')
    case 'timeout':
      return new AgentprotoError('timeout', 'The turn took too long')
    case 'session-ended':
      return new AgentprotoError('agent_exited', error ?? 'The agent exited during the turn', seeLog)
    case 'error':
      return new AgentprotoError('prompt_failed', error ?? 'The prompt failed', seeLog)
    case 'max_tokens':
    case 'max_turn_requests':
    case 'refusal':
      return new AgentprotoError('prompt_failed', `The agent stopped early: ${reason}`)
    default:
      return reason satisfies never
  }
}

function refusal(refused: number, consequence: string, allowCommand?: string): AgentprotoError {
  const what = refused === 1 ? 'A permission was' : `${refused} permissions were`
  const option = 'Allow more with --permissions approve-reads or approve-all'
  const hint = allowCommand === undefined ? option : `Allow more with: ${allowCommand}`
  return new AgentprotoError('permission_denied', `${what} refused${consequence}`, { hint })
}
