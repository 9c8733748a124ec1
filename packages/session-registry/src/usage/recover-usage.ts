import type { StoredSession } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'
import type { SessionHandle } from '../session/session-handle.js'
import { eventsFrom } from '../turns/turn-log.js'
import type { UsageLedger } from './usage-ledger.js'

export interface UsageRecovery {
  readonly sessions: { get(id: string): SessionHandle }
  readonly ledger: UsageLedger
  readonly onProblem: (problem: string) => void
}

/** Counts what ended sessions used and the store lacks: the host may have ended before that was stored. */
export async function recoverUsage(
  stored: readonly StoredSession[],
  { sessions, ledger, onProblem }: UsageRecovery,
): Promise<void> {
  for (const { session, meter } of stored) {
    // What an imported session used was used elsewhere.
    if (meter === undefined || session.imported !== undefined || !ledger.lacks(session, meter)) continue
    if (ledger.recoverWhole(session, meter)) continue
    const actor = sessions.get(session.id)
    await ledger
      .recover(actor, () => eventsFrom(actor, 1))
      .catch((error: unknown) => onProblem(`What ${session.id} used could not be read: ${messageOf(error)}`))
  }
}
