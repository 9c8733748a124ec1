import { type EventGap, isAgentprotoError, isLive, type Session, type SessionEvent } from '@agentproto/contracts'
import type { Client, ConnectionState } from '@agentproto/client'

export interface FeedOptions {
  readonly client: Client
  readonly session: Session
  readonly after: number
  readonly signal: AbortSignal
  /** The gateway does not answer. May be said again and again. */
  readonly away: () => void
  readonly back: () => void
  /** Events are gone; those behind them follow. */
  readonly onGap: (gap: EventGap) => void
  /** Resolves when somebody here has prompted: the session is about to wake. */
  readonly woken: () => Promise<void>
}

/** How often a sleeping session is looked at, in milliseconds: somebody else may wake it. */
const LOOK_MS = 2_000

/**
 * The events of a session through its sleeps: one that can be resumed is not over when its agent ends.
 * @throws `cancelled` when the signal aborts
 */
export async function* sessionFeed(options: FeedOptions): AsyncGenerator<SessionEvent> {
  const { client, session, signal, onGap } = options
  const onState = (state: ConnectionState): void => {
    if (state.state === 'connected') options.back()
    // The first try comes at once: what it mends is no outage.
    else if (state.attempt > 0) options.away()
  }
  let { after } = options
  for (;;) {
    for await (const event of client.sessions.events(session.id, { after, signal, onState, onGap })) {
      after = event.seq
      yield event
    }
    if (!(await wakes(options))) return
  }
}

/** @returns false for a session that cannot wake */
async function wakes(options: FeedOptions): Promise<boolean> {
  const { signal, woken } = options
  for (;;) {
    const now = await look(options)
    if (now === 'gone' || signal.aborted) return false
    if (now === 'live') return true
    if (await Promise.race([woken().then(() => true), pause(signal)])) return true
  }
}

async function look({ client, session, away, back }: FeedOptions): Promise<'live' | 'asleep' | 'gone'> {
  try {
    const now = await client.sessions.get(session.id)
    back()
    if (isLive(now)) return 'live'
    return now.resumable ? 'asleep' : 'gone'
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code === 'session_not_found') return 'gone'
    away()
    return 'asleep'
  }
}

/** @returns false */
function pause(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, LOOK_MS)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve(false)
    }
  })
}
