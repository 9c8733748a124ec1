import {
  AgentprotoError,
  type Principal,
  type Session,
  type SessionPrincipal,
  type WorkspaceResolver,
} from '@agentproto/contracts'
import type { AdapterCatalog, StoredSpawn } from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { assertQuota, type Child, childOf, grantOf } from '../delegation/delegation.js'
import { childRootOf, workspaceRootOf } from '../delegation/root-folder.js'
import type { SessionActor } from '../session/actor.js'
import { isEnding } from '../session/state.js'
import type { SessionCache } from '../session-cache.js'
import { adapterFor, type Creation, newSession, spawnOf } from './spawn-request.js'

/** What a spawn will create. Nothing is created before, so a refused spawn leaves nothing. */
export interface PlannedSession {
  readonly session: Session
  readonly spawn: StoredSpawn
  /** Call it right before the session is added, with nothing awaited in between. */
  assertAdmitted(): void
}

export interface Registrar {
  readonly adapters: AdapterCatalog
  readonly workspaces: WorkspaceResolver
  readonly sessions: SessionCache
  readonly create: () => Creation
}

/**
 * Plans a session for its caller: a person, or the agent of another session.
 * @throws `adapter_not_found`, `no_adapter_installed`, `workspace_not_found`, `cwd_invalid`, `cwd_not_allowed`; for an
 * agent `delegation_denied`, `max_depth_exceeded`, `cwd_outside_parent`
 */
export function planSession(request: SpawnAgentRequest, by: Principal, place: Registrar): Promise<PlannedSession> {
  return by.type === 'session' ? planChild(request, by, place) : planOwn(request, by, place)
}

async function planOwn(request: SpawnAgentRequest, by: Principal, place: Registrar): Promise<PlannedSession> {
  const { slug: adapterSlug, session: policy } = await adapterFor(place.adapters, request)
  const root = await workspaceRootOf(place.workspaces, request, by)
  return {
    session: { ...newSession(request, by, place.create()), adapterSlug, ...root, ...grantOf(request) },
    spawn: spawnOf(request, policy),
    assertAdmitted: () => undefined,
  }
}

async function planChild(asked: SpawnAgentRequest, by: SessionPrincipal, place: Registrar): Promise<PlannedSession> {
  const parent = parentOf(by, place)
  const creation = place.create()
  const { request, lineage }: Child = childOf(asked, parent.stored(), Date.parse(creation.now))
  const { slug: adapterSlug, session: policy } = await adapterFor(place.adapters, request)
  const root = await childRootOf(place.workspaces, request, parent.snapshot())
  return {
    session: { ...newSession(request, by, creation), adapterSlug, ...root, ...lineage },
    spawn: spawnOf(request, policy),
    assertAdmitted() {
      // The parent may have ended meanwhile, and its children with it.
      parentOf(by, place)
      assertQuota(parent.snapshot(), place.sessions.childrenOf(parent.id).length)
    },
  }
}

/** @throws `delegation_denied` when it is ending or gone */
function parentOf({ sessionId }: SessionPrincipal, { sessions }: Registrar): SessionActor {
  const parent = sessions.peek(sessionId)
  if (parent?.isLive === true && !isEnding(parent.state)) return parent
  throw new AgentprotoError('delegation_denied', 'The session that made the request has ended', { given: sessionId })
}
