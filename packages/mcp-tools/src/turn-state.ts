import { AgentprotoError, type Clock, type SessionRequest, type TurnResult } from '@agentproto/contracts'
import type { EventReader } from '@agentproto/contracts/wire'
import type { Call, McpDeps, ToolSessions } from './services.js'
import { TurnProgress } from './turn-progress.js'

interface TurnWait {
  /** Default: the last turn. */
  readonly turn: number | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Receives progress at regular intervals. */
  readonly progress: Call['progress'] | undefined
}

/** The state of a turn when the wait ends. */
export type TurnState = { readonly sessionId: string; readonly turn: number } & (
  | { readonly state: 'ended'; readonly result: TurnResult }
  | { readonly state: 'awaiting-input'; readonly requests: readonly SessionRequest[] }
  | { readonly state: 'busy' }
)

/**
 * Waits for the first of: the end of the turn, a request that a person has to answer (a longer wait would only let it time out),
 * or the end of the time.
 * @throws `session_not_found`, `turn_not_found`, `cancelled`
 */
export async function turnState(
  { sessions, clock }: Pick<Required<McpDeps>, 'sessions' | 'clock'>,
  id: string,
  wait: TurnWait,
): Promise<TurnState> {
  const session = await sessions.get(id)
  const turn = wait.turn ?? session.turn.number
  if (turn === 0)
    throw new AgentprotoError('turn_not_found', 'The session has no turn yet', { hint: 'Send a prompt first' })
  const reader = await sessions.follow(id, session.lastSeq)
  const over = new AbortController()
  const stop = (): void => over.abort()
  wait.signal.addEventListener('abort', stop)
  if (wait.signal.aborted) stop()
  try {
    const ended = sessions.waitTurn(id, turn, over.signal).then((result) => ({ state: 'ended', result }) as const)
    const progress = wait.progress && new TurnProgress(clock, wait.progress, over.signal)
    const asked = untilRequest(reader, () => pendingOf(sessions, id, turn), { signal: over.signal, progress })
    const busy = after(clock, wait.timeoutMs, over.signal)
    return { sessionId: id, turn, ...(await Promise.race([ended, asked, busy])) }
  } finally {
    over.abort()
    reader.close()
    wait.signal.removeEventListener('abort', stop)
  }
}

type AwaitingInput = Extract<TurnState, { state: 'awaiting-input' }>

/** Never settles without a request: the caller also waits for the end of the turn and of the time. */
async function untilRequest(
  reader: EventReader,
  pending: () => Promise<readonly SessionRequest[]>,
  { signal, progress }: { readonly signal: AbortSignal; readonly progress: TurnProgress | undefined },
): Promise<Pick<AwaitingInput, 'state' | 'requests'>> {
  let requests = await pending()
  while (requests.length === 0) {
    const batch = await reader.next(signal)
    if (batch === undefined || signal.aborted) return new Promise(() => {})
    progress?.add(batch.records)
    if (batch.records.some(({ type }) => type === 'agent-prompt')) requests = await pending()
  }
  return { state: 'awaiting-input', requests }
}

async function pendingOf(sessions: ToolSessions, id: string, turn: number): Promise<readonly SessionRequest[]> {
  return (await sessions.requests(id)).filter((request) => request.state === 'pending' && request.turn === turn)
}

function after(clock: Clock, ms: number, signal: AbortSignal): Promise<{ readonly state: 'busy' }> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => resolve({ state: 'busy' }))
    signal.addEventListener('abort', () => timer.cancel(), { once: true })
  })
}
