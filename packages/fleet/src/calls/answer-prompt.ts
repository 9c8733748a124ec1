import type { Clock, TurnResult } from '@agentproto/contracts'
import type { Prompted, PromptRequest } from '@agentproto/contracts/wire'
import type { Incoming } from './method-kinds.js'
import type { SharedServices } from './places.js'

/**
 * A turn that ends within this time is answered with its prompt, in milliseconds: a second call would take longer than such a turn.
 * No more, since who called cannot name the turn before, such as when this host is lost.
 */
const SOON_MS = 25

type Sessions = SharedServices['sessions']

/** Prompts for another host. */
export async function answerPrompt(
  { sessions }: Pick<SharedServices, 'sessions'>,
  [id, request]: readonly [id: string, request: PromptRequest],
  { by, clock }: Pick<Incoming, 'by' | 'clock'>,
): Promise<Prompted> {
  const prompted = await sessions.prompt(id, request, by)
  if (request.wait !== true || prompted.result !== undefined) return prompted
  const result = await soonEnded(sessions, { id, turn: prompted.turn }, clock)
  return result === undefined ? prompted : { ...prompted, result }
}

interface OneTurn {
  readonly id: string
  readonly turn: number
}

/** Whatever else is to be said of the turn, `waitTurn` says to who asks. */
async function soonEnded(sessions: Sessions, { id, turn }: OneTurn, clock: Clock): Promise<TurnResult | undefined> {
  const over = new AbortController()
  const timer = clock.after(SOON_MS, () => over.abort())
  try {
    return await sessions.waitTurn(id, turn, over.signal)
  } catch {
    return undefined
  } finally {
    timer.cancel()
  }
}
