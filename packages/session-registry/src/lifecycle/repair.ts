import { type AnsweredBy, isLive, type SessionStatus, type StoredSession } from '@agentproto/contracts'
import { type Ending, failureOf, messageOf } from './ending.js'
import type { LogEntry } from '../log/event-record.js'
import type { ManagedSession } from '../managed-session.js'
import { UnheardAnswers } from '../permissions/unheard-answers.js'
import type { TurnBook } from '../turns/turn-book.js'
import { eventsFrom } from '../turns/turn-log.js'

interface Repairing {
  readonly endLeftovers?: (stored: StoredSession) => Promise<void>
  readonly onProblem?: (problem: string) => void
}

/** Repairs a session, after what is left of its processes has ended. @returns whether that was possible */
export async function repairStored(
  session: ManagedSession,
  stored: StoredSession,
  { endLeftovers, onProblem }: Repairing,
): Promise<boolean> {
  try {
    await endLeftovers?.(stored)
    await repairInterrupted(session, stored)
    return true
  } catch (error) {
    onProblem?.(`Session ${session.id} could not be repaired: ${messageOf(error)}`)
    return false
  }
}

/**
 * What a host does at boot with a session that its predecessor left live: the record catches up with the
 * log, which is never behind it, and the log is brought to an end by appending, never by rewriting
 * (failure modes 11, 60). The session's processes are gone by now.
 */
async function repairInterrupted(session: ManagedSession, stored: StoredSession): Promise<void> {
  const requests = await catchUp(session, stored)
  const { status } = session.snapshot()
  // The end had been logged, only the record had not been saved.
  if (!isLive({ status })) return
  const { detail, ending } = diagnose(status)
  const turn = session.turns.current
  if (turn !== undefined) await session.appendRepair(endOfTurn(session.turns, requests, detail), turn.number)
  for (const requestId of requests) session.desk.interrupted(requestId)
  await session.appendRepair([
    { type: 'repair', detail },
    { type: 'status', status: ending.status, previous: status },
    { type: 'session-stopped', ...ending },
  ])
  await session.journal.settle()
}

/** @returns ids of the requests that nobody had answered */
async function catchUp(session: ManagedSession, stored: StoredSession): Promise<readonly string[]> {
  const open = stored.turns.find(({ state }) => state === 'running')
  const requests = new Set<string>()
  const answers = new UnheardAnswers()
  for await (const event of eventsFrom(session, open?.firstSeq ?? stored.session.lastSeq + 1)) {
    if (event.type === 'gap') continue
    session.replay(event)
    answers.follow(event)
    if (event.type === 'agent-prompt') requests.add(event.requestId)
    if (event.type === 'agent-prompt-resolved') requests.delete(event.requestId)
  }
  await answers.keep(session.permissions, stored.session)
  return [...requests]
}

const GATEWAY_END: AnsweredBy = { type: 'gateway-end' }

/** What a turn that nobody will go on with still needs. */
export function endOfTurn(turns: TurnBook, requests: readonly string[], message: string): LogEntry[] {
  return [
    ...turns.openTools.map((toolCallId): LogEntry => ({
      type: 'tool-result',
      toolCallId,
      status: 'interrupted',
    })),
    ...requests.map((requestId): LogEntry => ({
      type: 'agent-prompt-resolved',
      requestId,
      answer: { outcome: 'cancelled' },
      by: GATEWAY_END,
    })),
    { type: 'error', message },
    { type: 'turn-end', reason: 'error', ...(turns.produced ? {} : { empty: true }) },
  ]
}

function diagnose(status: SessionStatus): { readonly detail: string; readonly ending: Ending } {
  if (status === 'starting') {
    const detail = 'The gateway ended before the session had started'
    return { detail, ending: { status: 'error', stopReason: 'error', failure: failureOf('startup_failure', detail) } }
  }
  const detail = 'The gateway ended while the session was active'
  return {
    detail,
    ending: { status: 'error', stopReason: 'agent_crashed', failure: failureOf('process_exit', detail) },
  }
}
