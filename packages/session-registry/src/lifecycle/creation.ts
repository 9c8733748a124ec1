import { AgentprotoError, type Session, type SessionPrincipal } from '@agentproto/contracts'
import type { AdapterCatalog, StoredSpawn } from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { assertQuota, type Child, childOf, grantOf } from '../delegation/delegation.js'
import { type Asker, rootsOf } from '../delegation/root-folder.js'
import type { SessionActor } from '../session/actor.js'
import { isEnding } from '../session/state.js'
import type { SessionCache } from '../session-cache.js'
import { adapterFor, type Creation, envelopeOf, newSession, spawnOf } from './spawn-request.js'

/** What a spawn will create. Nothing is created before, so a refused spawn leaves nothing. */
export interface PlannedSession {
  readonly session: Session
  readonly spawn: StoredSpawn
  /** Call it right before the session is added, with nothing awaited in between. */
  assertAdmitted(): void
}

export interface Registrar extends Asker {
  readonly adapters: AdapterCatalog
  readonly sessions: SessionCache
  readonly create: () => Creation
}

/**
 * Plans a session for its caller: a person, or the agent of another session.
 * @throws `adapter_not_found`, `no_adapter_installed`, `workspace_not_found`, `cwd_invalid`, `cwd_not_allowed`; for an
 * agent `delegation_denied`, `max_depth_exceeded`, `cwd_outside_parent`
 */
export async function planSession(asked: SpawnAgentRequest, place: Registrar): Promise<PlannedSession> {
  const { by, adapters, sessions } = place
  const creation = place.create()
  const { request, lineage }: Child =
    by.type === 'session'
      ? childOf(asked, parentOf(by, place).stored(), Date.parse(creation.now))
      : { request: asked, lineage: grantOf(asked) }
  const { slug: adapterSlug, session: policy } = await adapterFor(adapters, request)
  const roots = await rootsOf(request, place)
  const spawn = spawnOf(request, policy, roots)
  const session = { ...newSession(request, by, creation), adapterSlug, ...roots.place, ...lineage }
  return {
    session: { ...session, ...envelopeOf(spawn) },
    spawn,
    assertAdmitted() {
      // The parent may have ended meanwhile, and its children with it.
      if (by.type === 'session') assertQuota(parentOf(by, place).snapshot(), sessions.childrenOf(by.sessionId).length)
    },
  }
}

/** @throws `delegation_denied` when it is ending or gone */
function parentOf({ sessionId }: SessionPrincipal, { sessions }: Registrar): SessionActor {
  const parent = sessions.peek(sessionId)
  if (parent?.isLive === true && !isEnding(parent.state)) return parent
  throw new AgentprotoError('delegation_denied', 'The session that made the request has ended', { given: sessionId })
}
