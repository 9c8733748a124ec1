import { type Session, type SessionRequest, type SessionStateName } from '@agentproto/contracts'
import type { SessionBounds } from '@agentproto/contracts/wire'
import type { Call, McpDeps, ToolSessions } from './services.js'
import { turnState } from './turn-state.js'

interface SessionsWait {
  /** The sessions that the caller may use; undefined for all. */
  readonly within: SessionBounds | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly progress: Call['progress'] | undefined
}

interface WaitedSession extends Pick<Session, 'id' | 'state' | 'turn'> {
  /** What it waits for. */
  readonly requests?: readonly SessionRequest[]
}

const IS_BUSY: ReadonlySet<SessionStateName> = new Set(['busy', 'starting'])

/**
 * Waits until one of the sessions is not busy any more, or the time is up. One that is not busy at once ends the wait.
 * @returns the state of each, in the order of the ids, and the requests that it waits for
 * @throws `session_not_found`, also for one that the caller may not use
 */
export async function sessionStates(
  deps: Pick<Required<McpDeps>, 'sessions' | 'clock'>,
  ids: readonly string[],
  { within, timeoutMs, signal, progress }: SessionsWait,
): Promise<{ readonly sessions: readonly WaitedSession[] }> {
  const { sessions } = deps
  const wanted = [...new Set(ids)]
  // Before any wait: one that the caller may not use is not waited for.
  const now = await Promise.all(wanted.map((id) => sessions.get(id, within)))
  if (now.every(({ state }) => IS_BUSY.has(state))) {
    const over = new AbortController()
    const wait = { turn: undefined, timeoutMs, signal: AbortSignal.any([signal, over.signal]), progress }
    const waits = now.map(({ id }) => turnState(deps, id, wait))
    try {
      await Promise.race(waits)
    } finally {
      over.abort()
      await Promise.allSettled(waits)
    }
  }
  return { sessions: await Promise.all(wanted.map((id) => waited(sessions, id))) }
}

async function waited(sessions: ToolSessions, id: string): Promise<WaitedSession> {
  const { state, turn } = await sessions.get(id)
  if (state !== 'waiting') return { id, state, turn }
  const requests = await sessions.requests(id)
  return { id, state, turn, requests: requests.filter((request) => request.state === 'pending') }
}
