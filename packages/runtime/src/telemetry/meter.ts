import { SESSION_STATUSES, type SessionEvent, type SessionService, type SessionStatus } from '@agentproto/contracts'

/** Upper bounds of the buckets of a turn's duration, in seconds. */
export const TURN_SECONDS: readonly number[] = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800]

/** Sessions as they are now. */
export interface Census {
  readonly byStatus: Readonly<Record<SessionStatus, number>>
  readonly busy: number
  readonly awaitingInput: number
  readonly queuedPrompts: number
}

/**
 * Counts what the sessions of a gateway do, a batch of events at a time; what is so now is asked when somebody wants to
 * know. Its labels are the words of closed lists, so that what it holds is bounded.
 */
export class Meter {
  events = 0
  resumes = 0
  readonly turnsByReason = new Map<string, number>()
  readonly stopsByReason = new Map<string, number>()
  /** Turns of each bucket, the last of which has no bound. */
  readonly turnBuckets: number[] = TURN_SECONDS.concat(Infinity).map(() => 0)
  turnSeconds = 0
  /** When the running turn of a session began, in ms; as many as there are running turns. */
  readonly #began = new Map<string, number>()

  /** Takes a stored batch of one session. @param urgent whether it holds anything but what an agent says and does */
  take(events: readonly SessionEvent[], urgent: boolean): void {
    this.events += events.length
    if (urgent) for (const event of events) this.#note(event)
  }

  #note(event: SessionEvent): void {
    if (event.type === 'user-prompt') this.#began.set(event.sessionId, Date.parse(event.ts))
    else if (event.type === 'turn-end') this.#turnEnded(event)
    else if (event.type === 'session-stopped') {
      this.#began.delete(event.sessionId)
      add(this.stopsByReason, event.stopReason)
    } else if (event.type === 'status' && event.status === 'starting' && event.previous !== undefined) this.resumes++
  }

  #turnEnded({ sessionId, ts, reason }: SessionEvent & { readonly type: 'turn-end' }): void {
    add(this.turnsByReason, reason)
    const began = this.#began.get(sessionId)
    if (began === undefined) return
    this.#began.delete(sessionId)
    const seconds = Math.max(0, Date.parse(ts) - began) / 1_000
    const bucket = TURN_SECONDS.findIndex((bound) => seconds <= bound)
    const at = bucket < 0 ? TURN_SECONDS.length : bucket
    this.turnBuckets[at] = (this.turnBuckets[at] ?? 0) + 1
    this.turnSeconds += seconds
  }
}

/** Counts the sessions, a page at a time. */
export async function takeCensus(sessions: Pick<SessionService, 'list'>): Promise<Census> {
  const byStatus = Object.fromEntries(SESSION_STATUSES.map((status) => [status, 0])) as Record<SessionStatus, number>
  const census = { busy: 0, awaitingInput: 0, queuedPrompts: 0 }
  let after: string | undefined
  do {
    const page = await sessions.list({ limit: 1_000, ...(after === undefined ? {} : { after }) })
    for (const { status, turn, queuedPrompts = 0 } of page.sessions) {
      byStatus[status] += 1
      census.queuedPrompts += queuedPrompts
      if (turn.state === 'busy') census.busy += 1
      if (turn.state === 'awaiting-input') census.awaitingInput += 1
    }
    after = page.nextCursor
  } while (after !== undefined)
  return { byStatus, ...census }
}

const add = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1)
