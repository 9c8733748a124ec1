import { setTimeout as delay } from 'node:timers/promises'
import { type EventGap, isAgentprotoError, isLive, type Session, type SessionEvent } from '@agentproto/contracts'
import type { Client, ConnectionState } from '@agentproto/client'

interface FeedOptions {
  readonly client: Client
  readonly session: Session
  readonly after: number
  readonly signal: AbortSignal
  /** Whether the gateway answers. Called repeatedly. */
  readonly onConnection: (isConnected: boolean) => void
  /** Events are lost; the later ones follow. */
  readonly onGap: (gap: EventGap) => void
  /** Resolves when this client sends the next prompt, which resumes the session. */
  readonly nextPrompt: () => Promise<void>
}

/** How often a hibernated session is polled, in milliseconds: another client may resume it. */
const POLL_MS = 2_000

/**
 * The events of a session across hibernation: a resumable session does not end with its agent.
 * @throws `cancelled` when the signal aborts
 */
export async function* sessionFeed(options: FeedOptions): AsyncGenerator<SessionEvent> {
  const { client, session, signal, onGap } = options
  const onState = (state: ConnectionState): void => {
    // The first attempt follows at once; if it succeeds, there was no outage.
    if (state.state === 'connected' || state.attempt > 0) options.onConnection(state.state === 'connected')
  }
  let { after } = options
  for (;;) {
    for await (const event of client.sessions.events(session.id, { after, signal, onState, onGap })) {
      after = event.seq
      yield event
    }
    if (!(await resumes(options))) return
  }
}

/** Waits until the session is live again. @returns false when it cannot be resumed */
async function resumes(options: FeedOptions): Promise<boolean> {
  const { signal, nextPrompt } = options
  for (;;) {
    const now = await stateOf(options)
    if (now === 'gone' || signal.aborted) return false
    if (now === 'live') return true
    const nextPoll = delay(POLL_MS, false, { signal }).catch(() => false)
    if (await Promise.race([nextPrompt().then(() => true), nextPoll])) return true
  }
}

async function stateOf({ client, session, onConnection }: FeedOptions): Promise<'live' | 'hibernated' | 'gone'> {
  try {
    const now = await client.sessions.get(session.id)
    onConnection(true)
    if (isLive(now)) return 'live'
    return now.resumable ? 'hibernated' : 'gone'
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code === 'session_not_found') return 'gone'
    onConnection(false)
    return 'hibernated'
  }
}
