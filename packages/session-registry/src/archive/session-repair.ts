import { AgentprotoError, isLive } from '@agentproto/contracts'
import type { RepairFinding } from '@agentproto/contracts/wire'
import type { SessionHandle } from '../session/session-handle.js'
import type { Ending } from '../lifecycle/ending.js'
import { assertHere } from '../lifecycle/moved.js'
import { allEventsOf, type LogSources } from './session-reading.js'
import { SessionRebuild } from './session-rebuild.js'

/**
 * Compares a stored session with its log, which is the truth, and repairs it by appending: a torn end is moved aside as at any
 * open, a turn without an end gets one, a run without an end gets the one of its record, and a record that differs from its
 * log is rebuilt from it.
 */

/** @throws `session_live`: the log of a live session is still being written */
export async function repairSession(
  session: SessionHandle,
  sources: LogSources,
  dryRun: boolean,
): Promise<readonly RepairFinding[]> {
  assertHere(session.snapshot())
  assertEnded(session)
  if (!dryRun) await session.log.flush()
  const { torn, unreadable } = (await sources.logs.inspect?.(session.id)) ?? { unreadable: [] }
  const rebuild = await rebuilt(session, sources)
  const findings = [
    ...(torn === undefined ? [] : [finding('torn-tail', torn)]),
    ...missingEnds(session, rebuild),
    ...differences(session, rebuild),
  ]
  if (!dryRun && findings.length > 0) await fix(session, sources, rebuild)
  const lost = unreadable.length === 0 ? [] : [lostEvents(unreadable)]
  return [...findings.map((each) => ({ ...each, mended: !dryRun })), ...lost]
}

const rebuilt = (session: SessionHandle, sources: LogSources): Promise<SessionRebuild> =>
  new SessionRebuild(session.snapshot()).applyAll(allEventsOf(session.id, sources))

type Finding = Omit<RepairFinding, 'mended'>
const finding = (kind: Finding['kind'], detail: string): Finding => ({ kind, detail })

function missingEnds(session: SessionHandle, { turns, session: logged }: SessionRebuild): Finding[] {
  const turn = turns.current
  const open = turn === undefined ? [] : [finding('dangling-turn', `Turn ${turn.number} has no end`)]
  if (!isLive(logged)) return open
  const { status } = session.snapshot()
  return [...open, finding('no-end', `The log ends while the session is ${logged.status}; its record says ${status}`)]
}

/** Where the record differs from the log. */
function differences(session: SessionHandle, { session: logged }: SessionRebuild): Finding[] {
  const record = session.snapshot()
  const always = ['turnCount', 'lastSeq'] as const
  const keys = isLive(logged) ? always : ([...always, 'status', 'stopReason', 'endedAt'] as const)
  const differing = keys
    .filter((key) => record[key] !== logged[key])
    .map((key) => `${key} is ${record[key]}, by the log ${logged[key]}`)
  return differing.length === 0 ? [] : [finding('record-differs', differing.join('; '))]
}

const lostEvents = (unreadable: readonly number[]): RepairFinding => ({
  kind: 'unreadable-events',
  detail: `${unreadable.length} event(s) cannot be read any more: ${unreadable.slice(0, 20).join(', ')}${unreadable.length > 20 ? ', …' : ''}`,
  mended: false,
})

async function fix(session: SessionHandle, sources: LogSources, rebuild: SessionRebuild): Promise<void> {
  const { log } = session
  // Moves a torn end aside and reports it, as every open does; a log that is still open was looked at before.
  await log.close()
  await log.open()
  assertEnded(session)
  const detail = 'The log was completed by a repair'
  const { status, stopReason = 'error', failure } = session.snapshot()
  const ending = { status: status as Ending['status'], stopReason, failure }
  await log.append(rebuild.missingEnds({ detail, ending }))
  const fixed = await rebuilt(session, sources)
  await session.post({ type: 'rebuilt', session: fixed.session, meter: fixed.state.meter })
  session.turns.restore(fixed.turns)
  log.settle()
}

function assertEnded(session: SessionHandle): void {
  if (!session.isLive) return
  throw new AgentprotoError('session_live', 'The session is live: its log is still being written', {
    hint: 'End it first with `agentproto sessions kill <id>`',
  })
}
