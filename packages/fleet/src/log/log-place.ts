import { AgentprotoError } from '@agentproto/contracts'
import type { Splitting } from './log-batch.js'
import { lastWhole, type LogMessage } from './log-message.js'
import type { LogEnd } from './log-tail.js'

/** How far the log is published: after which message of the stream the next one goes. */
export interface LogPlace {
  streamSeq: number
  /** Number of the last event that is wholly stored. */
  lastSeq: number
  /** The message there; absent in an empty log. */
  message?: LogMessage
}

/** @param published The last event that was published here: retention may have emptied the log since then */
export const placeOf = (found: LogEnd | undefined, published: number): LogPlace =>
  found?.message === undefined
    ? { streamSeq: found?.streamSeq ?? 0, lastSeq: published }
    : { streamSeq: found.streamSeq, lastSeq: lastWhole(found.message), message: found.message }

/** The event of which the log ends with a part, if that is ours: it goes on there. */
export function partlyStored({ message }: LogPlace, epoch: number): Splitting['partly'] {
  if (message?.part === undefined || message.epoch !== epoch) return undefined
  const { offset, total } = message.part
  const bytes = offset + message.body.length
  return bytes === total ? undefined : { seq: message.first, bytes, total }
}

export const isAhead = (there: number, here: number): AgentprotoError =>
  new AgentprotoError('storage_corrupt', "The fleet's log has events that the log of this host does not have", {
    expected: `at most ${here} events`,
    given: there,
    hint: 'A power cut can lose the last events of a host. Fork the session to go on with it.',
  })
