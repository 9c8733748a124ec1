import { isLive } from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import { UnheardAnswers } from '../permissions/unheard-answers.js'
import type { SessionHost } from '../session-host.js'
import type { SessionHandle } from '../session/session-handle.js'
import { eventsFrom } from '../turns/turn-log.js'
import { recoverUsage, type UsageRecovery } from '../usage/recover-usage.js'
import { failureOf, messageOf } from './ending.js'

export interface RepairHost extends Pick<SessionHost, 'endLeftovers' | 'onProblem' | 'ledger' | 'keep'> {
  readonly sessions: UsageRecovery['sessions']
}

/** Repairs every session that a dead host left live, and what the host had not counted of any. */
export async function repairAll(all: readonly StoredSession[], host: RepairHost): Promise<void> {
  for (const stored of all.filter(({ session, starting }) => isLive(session) || starting)) {
    const session = host.sessions.get(stored.session.id)
    if (await repairStored(session, stored, host)) await host.keep(session)
  }
  await recoverUsage(all, host)
}

/** Repairs a session that a dead host left live, after its processes were ended. @returns whether that was possible */
async function repairStored(
  session: SessionHandle,
  stored: StoredSession,
  { endLeftovers, onProblem, ledger }: Pick<SessionHost, 'endLeftovers' | 'onProblem' | 'ledger'>,
): Promise<boolean> {
  try {
    await endLeftovers?.(stored)
    await catchUp(session, stored)
    await ledger.recover(session, () => eventsFrom(session, 1))
    await repairInterrupted(session, stored)
    return true
  } catch (error) {
    onProblem(`Session ${session.id} could not be repaired: ${messageOf(error)}`)
    return false
  }
}

/** The log is completed by appending, never by rewriting (failure mode 60). */
async function repairInterrupted(session: SessionHandle, stored: StoredSession): Promise<void> {
  const { status } = session.state.session
  // The end may have been logged, and only the record not saved.
  if (!isLive({ status })) return
  const isResume = status === 'starting' && stored.starting === true
  // A gateway that ends during a resume says nothing about the session: it sleeps on.
  const hasStarted = status !== 'starting' || isResume
  const detail = isResume ? ENDED.duringResume : hasStarted ? ENDED.active : ENDED.beforeStart
  const failure = failureOf(hasStarted ? 'process_exit' : 'startup_failure', detail)
  const ending = { status: 'error', stopReason: hasStarted ? 'agent_crashed' : 'error', failure } as const
  await session.post({ type: 'repair', detail, ending })
  session.log.settle()
}

const ENDED = {
  active: 'The gateway ended while the session was active',
  duringResume: 'The gateway ended while the session was being resumed',
  beforeStart: 'The gateway ended before the session had started',
}

/** The record catches up with the log, which is never behind it (failure mode 11). */
async function catchUp(session: SessionHandle, stored: StoredSession): Promise<void> {
  const open = stored.turns.find(({ state }) => state === 'running')
  const answers = new UnheardAnswers()
  for await (const event of eventsFrom(session, open?.firstSeq ?? stored.session.lastSeq + 1)) {
    if (event.type === 'gap') continue
    await session.post({ type: 'replayed', event })
    session.turns.effective([event])
    session.permissions.replay(event)
    answers.follow(event)
  }
  await answers.keep(session.permissions, stored.session)
}
