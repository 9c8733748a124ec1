import { AgentprotoError, defined, isLive, type Session } from '@agentproto/contracts'
import type { LostSession, MovedSettings, StoredLog, StoredSession, Worktree } from '@agentproto/contracts/agent'
import { SessionRebuild } from '../archive/session-rebuild.js'
import { type Ending, failureOf } from '../lifecycle/ending.js'
import { envelopeOf, newSession } from '../lifecycle/spawn-request.js'
import type { SessionCache } from '../session-cache.js'
import type { SessionHost } from '../session-host.js'
import { summarised } from '../session/state.js'
import type { LostFacts } from './lost-facts.js'
import { discardFolder, type Folder, folderHere } from './folder-here.js'
import { FLEET, type Placed, placeHere } from './place-here.js'
import { removePlanned } from '../worktrees/new-worktree.js'
import { TakenLog } from './taken-log.js'

/**
 * Makes a session of a lost host one of this host. Its log is copied first, then its record is saved: that is the one step that
 * makes it a session of this host. Until then a record says that it is not whole, and the next start removes it.
 */

export interface TakeOverHost extends Pick<
  SessionHost,
  'adapters' | 'workspaces' | 'worktrees' | 'logs' | 'store' | 'clock' | 'newId' | 'hostId' | 'redact' | 'onProblem'
> {
  readonly sessions: SessionCache
}

/** @returns what is stored of it; see `SessionMoves.takeOver` for what it throws */
export async function takeOver(
  facts: LostFacts,
  events: LostSession['events'],
  host: TakeOverHost,
): Promise<StoredSession> {
  const former = formerOf(facts.id, host)
  const placed = await placeHere(facts, host)
  const half: StoredSession = former === undefined ? notWhole(facts, placed, host) : { ...former, takingUp: true }
  await host.store.save(half)
  const onPlanned = (planned: Worktree): Promise<void> => host.store.save({ ...half, plannedWorktree: planned })
  let folder: Folder | undefined
  try {
    // What a start that was killed has left, or what this host knew when it had the session.
    await host.logs.delete(facts.id)
    const { log } = await host.logs.open(facts.id)
    try {
      const taken = await copied(facts, events, { host, log, placed })
      folder = await folderHere(facts, placed, { ...host, onPlanned })
      const stored = await completed(taken, { facts, folder, placed, host })
      await host.store.save(stored)
      return stored
    } finally {
      await log.close()
    }
  } catch (thrown) {
    await discardFolder(folder, host)
    await undo(facts.id, former, host)
    throw thrown
  }
}

/** What this host knows of a session that it had before. @throws `session_live` for one that it has */
function formerOf(id: string, { sessions }: TakeOverHost): StoredSession | undefined {
  const known = sessions.descriptor(id)
  if (known === undefined) return undefined
  if (known.movedTo !== undefined && !isLive(known)) return sessions.get(id).stored()
  throw new AgentprotoError('session_live', 'The session is one of this host', { given: id })
}

/** All that is left where it fails: nothing, or the record that it is elsewhere. */
async function undo(
  id: string,
  former: StoredSession | undefined,
  { logs, store }: Pick<TakeOverHost, 'logs' | 'store'>,
): Promise<void> {
  await logs.delete(id)
  await (former === undefined ? store.delete(id) : store.save(former))
}

/** Removes what a host left that was killed while it took a session over. @returns the sessions that are whole */
export async function withoutHalfTaken(
  sessions: readonly StoredSession[],
  host: Pick<TakeOverHost, 'logs' | 'store' | 'worktrees' | 'onProblem'>,
): Promise<readonly StoredSession[]> {
  const whole: StoredSession[] = []
  for (const { takingUp, plannedWorktree, ...stored } of sessions) {
    const { id, movedTo } = stored.session
    const former = movedTo === undefined ? undefined : stored
    if (takingUp === true) {
      const kept = plannedWorktree && (await removePlanned(host.worktrees, plannedWorktree))
      if (kept !== undefined) host.onProblem(kept)
      await undo(id, former, host)
      host.onProblem(`The take-over of session ${id} had not ended: nothing of it is kept`)
    }
    if (takingUp !== true) whole.push(stored)
    else if (former !== undefined) whole.push(former)
  }
  return whole
}

/** The record until the log is whole. Older code finds a session in it that has ended. */
const notWhole = (facts: LostFacts, placed: Placed, host: TakeOverHost): StoredSession => ({
  version: 1,
  session: { ...atStart(facts, placed, host), status: 'error', stopReason: 'error' },
  turns: [],
  requests: [],
  spawn: {},
  takingUp: true,
})

/** As it was before its first event. */
function atStart(facts: LostFacts, { roots }: Placed, { hostId }: Pick<TakeOverHost, 'hostId'>): Session {
  const { id, adapterSlug, label, title, permissionMode, onHostLoss, startedAt, lastActiveAt, settings } = facts
  const { expiresAt, delegation, forkedFrom, from } = facts
  const request = defined({ label, title, permissionMode, onHostLoss, instructions: settings?.instructions })
  return {
    ...newSession({ adapter: adapterSlug, ...request }, FLEET, { id, now: startedAt, hostId }),
    ...envelopeOf(defined({ envelope: settings?.envelope })),
    adapterSlug,
    workspaceSlug: roots.place.workspaceSlug,
    cwd: roots.place.cwd,
    lastActiveAt,
    ...defined({ expiresAt, delegation, forkedFrom }),
    movedFrom: from,
    warnings: [],
  }
}

interface Copying {
  readonly host: TakeOverHost
  readonly log: StoredLog
  readonly placed: Placed
}

interface Taken {
  readonly rebuild: SessionRebuild
  readonly log: TakenLog
  /** Whether the record has what the end of the log has, or more. */
  readonly isRecordNewer: boolean
}

async function copied(
  facts: LostFacts,
  events: LostSession['events'],
  { host, log: stored, placed }: Copying,
): Promise<Taken> {
  const rebuild = new SessionRebuild(atStart(facts, placed, host))
  const log = new TakenLog({ log: stored, sessionId: facts.id, rebuild, redact: host.redact })
  await log.copy(events)
  const isRecordNewer = facts.lastSeq >= rebuild.lastSeq
  // Readers may have had events that never left their host: no other event gets their numbers.
  const { reservedSeq } = facts
  if (reservedSeq > rebuild.lastSeq) await log.skip({ after: rebuild.lastSeq, first: reservedSeq + 1 })
  return { rebuild, log, isRecordNewer }
}

interface Completing {
  readonly facts: LostFacts
  readonly folder: Folder
  readonly placed: Placed
  readonly host: TakeOverHost
}

/** The log gets the ends that it lacks; then all is known that is stored. */
async function completed(taken: Taken, { facts, folder, placed, host }: Completing): Promise<StoredSession> {
  const { rebuild, log, isRecordNewer } = taken
  const notes = [...notesOf(facts, log.lost), ...folder.notes]
  const detail = [`The host ${facts.from} was lost; ${host.hostId} continues the session`, ...notes].join('. ')
  const wasLive = isLive(rebuild.session) || isLive(facts)
  const ends = rebuild.missingEnds({ detail, ending: endingOf(taken, facts, detail) })
  const said = isLive(rebuild.session) ? [] : [{ entries: [{ type: 'repair', detail } as const] }]
  await log.append([...ends, ...said], new Date(host.clock.now()).toISOString())
  const { session, state, turns } = rebuild
  const { mcpServers: _, ...settings }: MovedSettings = facts.settings ?? {}
  const { cwd } = folder.roots.place
  const turnCount = Math.max(turns.count, Math.min(facts.turnCount, turns.count + log.lost))
  return {
    version: 1,
    session: summarised({
      ...session,
      ...defined({ title: facts.title, worktree: folder.shown }),
      ...(isRecordNewer ? { permissionMode: facts.permissionMode } : {}),
      ...(wasLive ? {} : defined({ killedAt: facts.killedAt })),
      cwd,
      turnCount,
      turn: { ...session.turn, number: turnCount },
      lastSeq: rebuild.lastSeq,
      pendingRequests: 0,
      resumable: folder.isSafe && (wasLive || facts.resumable),
      warnings: notes,
    }),
    turns: turns.all.slice(-STORED_TURNS),
    requests: state.requests.filter((request) => request.state !== 'pending'),
    spawn: {
      ...settings,
      ...defined({ budget: settings.budget ?? (facts.budget && defined(facts.budget)), worktree: folder.worktree }),
      ...(folder.worktree === undefined ? {} : { ownsWorktree: true as const }),
      policy: placed.policy,
      roots: folder.roots.folders,
    },
    // Its earlier host has counted this, or counts it when it is back.
    meter: { ...state.meter, elsewhere: rebuild.lastSeq },
  }
}

const STORED_TURNS = 50

/** Why its run ended: with its host, unless it had ended before and only the end of its log is lost. */
function endingOf({ isRecordNewer }: Taken, facts: LostFacts, detail: string): Ending {
  const { status, stopReason = 'error' } = facts
  if (isRecordNewer && status !== 'running' && status !== 'starting') return { status, stopReason }
  return { status: 'error', stopReason: 'agent_crashed', failure: failureOf('process_exit', detail) }
}

/** What is not the same here. */
function notesOf({ from, settings, queuedPrompts = 0 }: LostFacts, lost: number): readonly string[] {
  const { mcpServers = 0 } = settings ?? {}
  return [
    ...(lost === 0 ? [] : [`${lost} of its events are lost`]),
    ...(queuedPrompts === 0 ? [] : [`${queuedPrompts} queued prompt(s) were not sent: their text stayed on ${from}`]),
    ...(settings === undefined ? ['The mode, options and instructions of its start are not known here'] : []),
    ...(mcpServers === 0 ? [] : [`${mcpServers} MCP server(s) of its start stayed on ${from}: they may hold secrets`]),
  ]
}
