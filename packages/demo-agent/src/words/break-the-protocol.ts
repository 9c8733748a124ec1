import { RequestError } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.js'

export function stop(turn: Turn, argument: string): void {
  turn.answer.stopReason = argument || 'because'
}

/** The last call begins again after it was completed, and its status goes backwards. */
export function duplicate(turn: Turn): void {
  const toolCallId = 'call-again'
  for (const title of ['First', 'Second', 'Third']) {
    turn.update({ sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'pending' })
    turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
  }
  turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' })
  turn.say('I used one id three times.')
}

export function fail(_turn: Turn, argument: string): never {
  throw RequestError.internalError({ details: argument || 'as asked' }, argument || 'as asked')
}
