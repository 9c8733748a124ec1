import { isLive, type Session, type SessionEvent, type StoredSession } from '@agentproto/contracts'
import { type Ending, endingOfStorage, messageOf } from './lifecycle/ending.js'
import { isRule } from './permissions/file-rule-store.js'
import { rememberAnswer } from './permissions/remembered-answer.js'
import { SessionPermissions } from './permissions/session-permissions.js'
import { Prefaces } from './turns/prefaces.js'
import { RequestDesk } from './requests/request-desk.js'
import { remembers } from './lifecycle/resume.js'
import type { SessionHost } from './session-host.js'
import { SessionJournal } from './session-journal.js'
import { SessionLog } from './log/session-log.js'
import { SessionRecord } from './records/session-record.js'
import { endOf, supervision } from './lifecycle/supervision.js'
import { Supervisor } from './lifecycle/supervisor.js'
import { TurnBook } from './turns/turn-book.js'
import { TurnFlow } from './turns/turn-flow.js'

/** What a session is made of, wired; no logic here. */

/** The session's own end of its parts. */
export interface PartsOwner {
  snapshot(): Session
  kill(ending: Ending): Promise<unknown>
  end(ending: Ending): void
  follow(events: readonly SessionEvent[]): void
  changed(urgent: boolean): void
  unread(): void
}

export interface SessionParts {
  readonly record: SessionRecord
  readonly turns: TurnBook
  readonly prefaces: Prefaces
  readonly log: SessionLog
  readonly desk: RequestDesk
  readonly permissions: SessionPermissions
  readonly flow: TurnFlow
  readonly supervisor: Supervisor
  readonly journal: SessionJournal
}

export function sessionParts(host: SessionHost, stored: StoredSession, owner: PartsOwner): SessionParts {
  const { clock, config } = host
  const sessionId = stored.session.id
  const record = new SessionRecord(stored.session, stored.spawn.title)
  const prefaces = new Prefaces(record, stored.spawn.instructions)
  const turns = new TurnBook(stored.turns, stored.session.turnCount)
  const log = new SessionLog({
    sessionId,
    clock,
    onFailure: (error) => owner.end(endingOfStorage(error)),
    apply: owner.follow,
  })
  const permissions = sessionPermissions(host, stored, { record, owner })
  const desk = requestDesk(host, stored, { record, log, permissions, owner })
  const flow = new TurnFlow({
    log,
    turns,
    desk,
    clock,
    config,
    onQueue: () => owner.changed(true),
    preface: () => prefaces.next(),
    onSend: () => prefaces.sent(),
    onStuck: owner.end,
  })
  const supervisor: Supervisor = new Supervisor({
    clock,
    config,
    // One whose agent will not remember is only put to sleep when its manifest states the time itself (DESIGN §3).
    idleMs: () => stored.spawn.policy?.idleTimeoutMs ?? (sleepsWithoutLoss(record, stored) ? config.idleMs : undefined),
    endsAt: () => endOf(record, config.maxDurationMs),
    openTools: () => turns.openTools.length,
    isWaiting: () => desk.pendingCount > 0,
    act: supervision(owner, {
      log,
      flow,
      changed: () => owner.changed(false),
      // Children end with their parent: one that waits for its children is not idle.
      staysAwake: () => keepsAwake(host.childrenOf(sessionId).length, supervisor),
    }),
  })
  const journal = new SessionJournal(
    {
      sessionId,
      logs: host.logs,
      clock,
      ...(host.redact === undefined ? {} : { redact: host.redact }),
      turnStart: (seq) => turns.startOf(seq),
      outputFrom: () => turns.all.at(-3)?.firstSeq ?? 1,
      isLive: () => isLive(record),
      onStored: (events, known) => {
        // What had taken effect before is told to nobody a second time; but an end is as late as the log says.
        for (const event of events.slice(0, known)) if (event.type === 'session-stopped') record.apply(event)
        if (known > 0) owner.changed(true)
        if (known < events.length) owner.follow(known === 0 ? events : events.slice(known))
      },
      onUnread: owner.unread,
    },
    stored.session.lastSeq,
  )
  return { record, turns, prefaces, log, desk, permissions, flow, supervisor, journal }
}

function sessionPermissions(
  { clock, newId, workspaceRules, onProblem }: SessionHost,
  { session, rules = [] }: StoredSession,
  { record, owner }: Pick<SessionParts, 'record'> & { readonly owner: PartsOwner },
): SessionPermissions {
  const { id: sessionId, cwd, workspaceSlug, additionalDirectories = [] } = session
  return new SessionPermissions(
    {
      sessionId,
      cwd,
      workspaceSlug,
      additionalDirectories,
      clock,
      newId,
      workspaces: workspaceRules,
      mode: () => record.permissionMode,
      onChange: () => owner.changed(true),
      onProblem: (problem) => onProblem(`Rules of session ${sessionId}: ${messageOf(problem)}`),
    },
    rules.filter(isRule),
  )
}

const sleepsWithoutLoss = ({ resumable, capabilities }: SessionRecord, { spawn }: StoredSession): boolean =>
  resumable && capabilities !== undefined && remembers(capabilities, spawn)
function keepsAwake(children: number, supervisor: Supervisor): boolean {
  if (children > 0) supervisor.active()
  return children > 0
}

function requestDesk(
  { clock, newId, config, gate }: SessionHost,
  { session, requests }: StoredSession,
  {
    record,
    log,
    permissions,
    owner,
  }: Pick<SessionParts, 'record' | 'log' | 'permissions'> & { readonly owner: PartsOwner },
): RequestDesk {
  const desk: RequestDesk = new RequestDesk(
    {
      sessionId: session.id,
      clock,
      newId,
      timeoutMs: config.requestTimeoutMs,
      append: (entry, turn) => log.appendOrEnd([entry], turn),
      gate: gate && ((request) => gate(owner.snapshot(), request)),
      decide: (request) => permissions.decide(request),
      remember: (request, answer, by) => rememberAnswer(permissions, request, { answer, by }),
      onChange: () => {
        record.awaiting(desk.pendingCount > 0)
        owner.changed(true)
      },
    },
    requests.filter(({ state }) => state !== 'pending'),
  )
  return desk
}
