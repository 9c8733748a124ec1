import {
  type AdapterCatalog,
  AgentprotoError,
  type Principal,
  type Session,
  type SessionPrincipal,
  type SpawnAgentRequest,
  type StoredSpawn,
  type WorkspaceResolver,
} from '@agentproto/contracts'
import { assertQuota, type Child, childOf, grantOf } from '../delegation/delegation.js'
import { groundOf } from '../delegation/ground.js'
import type { ManagedSession } from '../managed-session.js'
import { parentsGround } from '../delegation/parents-ground.js'
import type { SessionShelf } from '../session-shelf.js'
import { adapterFor, type Birth, newSession, spawnOf } from './spawn-request.js'

/** What a spawn is to make, before anything is made: a refused one leaves nothing. */
export interface PlannedSession {
  readonly session: Session
  readonly spawn: StoredSpawn
  /** To be called right before the session is entered, with nothing awaited in between. */
  assertAdmitted(): void
}

export interface BirthPlace {
  readonly adapters: AdapterCatalog
  readonly workspaces: WorkspaceResolver
  readonly sessions: SessionShelf
  readonly born: () => Birth
}

/**
 * Plans a session for whoever asks for it: a person, or the agent of another session.
 * @throws `adapter_not_found`, `no_adapter_installed`, `workspace_not_found`, `cwd_invalid`, `cwd_not_allowed`; for an
 * agent `delegation_denied`, `max_depth_exceeded`, `cwd_outside_parent`
 */
export function planSession(request: SpawnAgentRequest, by: Principal, place: BirthPlace): Promise<PlannedSession> {
  return by.type === 'session' ? planChild(request, by, place) : planOwn(request, by, place)
}

async function planOwn(request: SpawnAgentRequest, by: Principal, place: BirthPlace): Promise<PlannedSession> {
  const { slug: adapterSlug, session: policy } = await adapterFor(place.adapters, request)
  const ground = await groundOf(place.workspaces, request, by)
  return {
    session: { ...newSession(request, by, place.born()), adapterSlug, ...ground, ...grantOf(request) },
    spawn: spawnOf(request, policy),
    assertAdmitted: () => undefined,
  }
}

async function planChild(asked: SpawnAgentRequest, by: SessionPrincipal, place: BirthPlace): Promise<PlannedSession> {
  const parent = parentOf(by, place)
  const born = place.born()
  const { request, lineage }: Child = childOf(asked, parent.stored(), Date.parse(born.now))
  const { slug: adapterSlug, session: policy } = await adapterFor(place.adapters, request)
  const ground = await parentsGround(place.workspaces, request, parent.snapshot())
  return {
    session: { ...newSession(request, by, born), adapterSlug, ...ground, ...lineage },
    spawn: spawnOf(request, policy),
    assertAdmitted() {
      // It may have ended meanwhile, and has ended its children then.
      parentOf(by, place)
      assertQuota(parent.snapshot(), place.sessions.childrenOf(parent.id).length)
    },
  }
}

/** @throws `delegation_denied` when it is ending or gone */
function parentOf({ sessionId }: SessionPrincipal, { sessions }: BirthPlace): ManagedSession {
  const parent = sessions.get(sessionId)
  if (parent?.isLive === true && !parent.isEnding) return parent
  throw new AgentprotoError('delegation_denied', 'The session that asks has ended', { given: sessionId })
}
