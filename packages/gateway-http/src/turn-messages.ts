import { AgentprotoError } from '@agentproto/contracts'
import type { SessionService } from '@agentproto/contracts'
import { eventMessages } from './sse-messages.js'
import type { SseSource } from './sse-body.js'

/**
 * The events of one turn as messages, from its first to its `turn-end`. A session has one turn at a time, so
 * everything in between is of it.
 */
export async function turnMessages(
  sessions: SessionService,
  id: string,
  { turn }: { readonly turn: number },
): Promise<SseSource> {
  const found = (await sessions.turns(id)).find(({ number }) => number === turn)
  if (found === undefined) throw new AgentprotoError('turn_not_found', 'The turn is gone', { given: turn })
  return eventMessages(await sessions.follow(id, found.firstSeq - 1), (record) => record.type === 'turn-end')
}
