import type { Session, SessionStatus } from '@agentproto/contracts'
import { type Ending, failureOf } from './ending.js'
import type { SessionLog } from '../log/session-log.js'
import type { SupervisorActions } from './supervisor.js'
import type { TurnFlow } from '../turns/turn-flow.js'

/** What supervision does to a session when something is due. */

interface Supervised {
  snapshot(): Session
  kill(ending: Ending): Promise<unknown>
}

interface Means {
  readonly log: SessionLog
  readonly flow: TurnFlow
  /** Tells watchers that nothing happened, but that the session is looked after. */
  readonly changed: () => void
  /** Counts as activity when it is true. */
  readonly staysAwake: () => boolean
}

export function supervision(session: Supervised, { log, flow, changed, staysAwake }: Means): SupervisorActions {
  // An end that fails has been told in the session's own warnings.
  const end = (ending: Ending): void => void session.kill(ending).catch(() => undefined)
  return {
    heartbeat: changed,
    progress(elapsedMs, idleMs) {
      const { turn } = session.snapshot()
      const tool = turn.currentTool === undefined ? {} : { currentTool: turn.currentTool }
      void log.appendOrEnd([{ type: 'runtime-progress', elapsedMs, idleMs, ...tool }], turn.number)
    },
    warn(idleMs) {
      const message = `The agent has been silent for ${minutes(idleMs)}`
      void log.appendOrEnd([{ type: 'runtime-warning', message, idleMs }], session.snapshot().turn.number)
    },
    cancelSilent: (idleMs) => void flow.cancelSilent(idleMs),
    sleep() {
      if (!staysAwake()) end({ status: 'killed', stopReason: 'idle' })
    },
    expire() {
      const { expiresAt } = session.snapshot()
      if (expiresAt !== undefined) return end({ status: 'killed', stopReason: 'expired' })
      return end({
        status: 'killed',
        stopReason: 'timeout',
        failure: failureOf('timeout', 'The session reached its time limit'),
      })
    },
  }
}

/** When a session has to end, in milliseconds since the epoch. */
export function endOf(
  {
    startedAt,
    expiresAt,
  }: { readonly startedAt: string; readonly expiresAt?: string | undefined; readonly status: SessionStatus },
  maxDurationMs: number,
): number | undefined {
  if (expiresAt !== undefined) return Date.parse(expiresAt)
  return maxDurationMs > 0 ? Date.parse(startedAt) + maxDurationMs : undefined
}

const minutes = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} minutes`
