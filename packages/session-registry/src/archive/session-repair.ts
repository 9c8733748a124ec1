import { AgentprotoError, type EventStore, isLive, type RepairFinding, type Session } from '@agentproto/contracts'
import type { LogEntry } from '../log/event-record.js'
import type { ManagedSession } from '../managed-session.js'
import { endOfTurn } from '../lifecycle/repair.js'
import { allEventsOf } from './session-reading.js'
import { SessionRebuild } from './session-rebuild.js'
import type { SessionShelf } from '../session-shelf.js'

/**
 * A stored session is held against its log, which is the truth, and mended by appending: a torn end is moved aside as at any
 * open, a turn without an end gets one, a run without an end gets the one that the record knows, and a record that says other
 * than its log is made anew from it.
 */

export interface RepairSources {
  readonly shelf: SessionShelf
  readonly logs: EventStore
}

/** @throws `session_live`: what a live session's log lacks is still to come */
export async function repairSession(
  session: ManagedSession,
  sources: RepairSources,
  dryRun: boolean,
): Promise<readonly RepairFinding[]> {
  assertEnded(session)
  if (!dryRun) await session.journal.pay()
  const { torn, unreadable } = (await sources.logs.inspect?.(session.id)) ?? { unreadable: [] }
  const rebuild = await rebuilt(session, sources)
  const findings = [
    ...(torn === undefined ? [] : [finding('torn-tail', torn)]),
    ...missingEnds(session, rebuild),
    ...differences(session, rebuild),
  ]
  if (!dryRun && findings.length > 0) await mend(session, sources, rebuild)
  const lost = unreadable.length === 0 ? [] : [lostEvents(unreadable)]
  return [...findings.map((each) => ({ ...each, mended: !dryRun })), ...lost]
}

const rebuilt = (session: ManagedSession, sources: RepairSources): Promise<SessionRebuild> =>
  new SessionRebuild(session.snapshot()).takeAll(allEventsOf(session.id, sources))

type Finding = Omit<RepairFinding, 'mended'>
const finding = (kind: Finding['kind'], detail: string): Finding => ({ kind, detail })

function missingEnds(session: ManagedSession, { turns, session: logged }: SessionRebuild): Finding[] {
  const turn = turns.current
  const open = turn === undefined ? [] : [finding('dangling-turn', `Turn ${turn.number} has no end`)]
  if (!isLive(logged)) return open
  const { status } = session.snapshot()
  return [...open, finding('no-end', `The log ends while the session is ${logged.status}; its record says ${status}`)]
}

/** What the record says other than the log, where the log says anything. */
function differences(session: ManagedSession, { session: logged }: SessionRebuild): Finding[] {
  const record = session.snapshot()
  const always = ['turnCount', 'lastSeq'] as const
  const keys = isLive(logged) ? always : ([...always, 'status', 'stopReason', 'endedAt'] as const)
  const told = keys
    .filter((key) => record[key] !== logged[key])
    .map((key) => `${key} is ${record[key]}, by the log ${logged[key]}`)
  return told.length === 0 ? [] : [finding('record-differs', told.join('; '))]
}

const lostEvents = (unreadable: readonly number[]): RepairFinding => ({
  kind: 'unreadable-events',
  detail: `${unreadable.length} event(s) cannot be read any more: ${unreadable.slice(0, 20).join(', ')}${unreadable.length > 20 ? ', …' : ''}`,
  mended: false,
})

async function mend(session: ManagedSession, sources: RepairSources, rebuild: SessionRebuild): Promise<void> {
  // Moves a torn end aside and says so, as every open does; a log that is still open since it was read has been looked at before.
  await session.journal.close()
  await session.journal.open()
  assertEnded(session)
  const detail = 'The log was brought to an end by a repair'
  const turn = rebuild.turns.current
  if (turn !== undefined)
    await session.appendRepair(endOfTurn(rebuild.turns, rebuild.openRequests, detail), turn.number)
  if (isLive(rebuild.session)) await session.appendRepair(endOfRun(session.snapshot(), rebuild.session, detail))
  // What could not be written is not mended yet.
  await session.journal.pay()
  const mended = await rebuilt(session, sources)
  session.correct(mended.session)
  session.turns.restore(mended.turns)
  await session.journal.settle()
}

/** The end that the record knows of, for the log that lacks it. */
function endOfRun({ status, stopReason = 'error', failure }: Session, logged: Session, detail: string): LogEntry[] {
  return [
    { type: 'repair', detail },
    { type: 'status', status, previous: logged.status },
    { type: 'session-stopped', status, stopReason, ...(failure === undefined ? {} : { failure }) },
  ]
}

function assertEnded(session: ManagedSession): void {
  if (!session.isLive) return
  throw new AgentprotoError('session_live', 'The session is live: its log is still being written', {
    hint: 'End it first with `agentproto sessions kill`',
  })
}
