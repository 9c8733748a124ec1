import { AgentprotoError, type Turn, type TurnResult } from '@agentproto/contracts'
import type { SessionsClient } from './sessions-client.js'

interface TurnOfSession {
  readonly id: string
  readonly turn: number
  readonly signal: AbortSignal | undefined
}

/** Follows one turn to its end and returns it with its text. */
export async function waitTurn(
  sessions: Pick<SessionsClient, 'turns' | 'events'>,
  { id, turn: number, signal }: TurnOfSession,
): Promise<TurnResult> {
  const admitted = await findTurn(sessions, id, number)
  const texts: string[] = []
  const follow = { after: admitted.firstSeq - 1, ...(signal === undefined ? {} : { signal }) }
  for await (const event of sessions.events(id, follow)) {
    if (event.turn !== number) continue
    if (event.type === 'text-delta') texts.push(event.text)
    if (event.type === 'turn-end') return { ...(await findTurn(sessions, id, number)), text: texts.join('') }
  }
  throw new AgentprotoError('agent_exited', `The session ended before turn ${number} did`, {
    hint: `See: agentproto sessions show ${id}`,
  })
}

async function findTurn(sessions: Pick<SessionsClient, 'turns'>, id: string, number: number): Promise<Turn> {
  const found = (await sessions.turns(id)).find((turn) => turn.number === number)
  if (found !== undefined) return found
  throw new AgentprotoError('turn_not_found', `The session has no turn ${number}`, { given: number })
}
