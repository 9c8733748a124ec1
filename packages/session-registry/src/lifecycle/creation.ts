import { AgentprotoError, type Session, type SessionPrincipal } from '@agentproto/contracts'
import type { AdapterCatalog, StoredSpawn } from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { assertQuota, type Child, childOf, grantOf } from '../delegation/delegation.js'
import { type Asker, rootsOf } from '../delegation/root-folder.js'
import { hostLossOf } from '../moves/host-loss-policy.js'
import type { RegistryConfig } from '../registry-config.js'
import type { SessionActor } from '../session/actor.js'
import { isEnding } from '../session/state.js'
import type { SessionCache } from '../session-cache.js'
import { askedWorktree, inWorktree, newWorktree, shownWorktree, type WorktreeStart } from '../worktrees/new-worktree.js'
import { adapterFor, type Creation, envelopeOf, newSession, spawnOf } from './spawn-request.js'

/** What a spawn will create. Nothing is created before, so a refused spawn leaves nothing. */
export interface PlannedSession {
  readonly session: Session
  readonly spawn: StoredSpawn
  /** Call it right before the session is added, with nothing awaited in between. */
  assertAdmitted(): void
}

export interface Registrar extends Asker, Pick<WorktreeStart, 'worktrees' | 'newId'> {
  readonly adapters: AdapterCatalog
  readonly config: Pick<RegistryConfig, 'onHostLoss'>
  readonly sessions: SessionCache
  readonly create: () => Creation
}

/**
 * Plans a session for its caller: a person, or the agent of another session.
 * @throws `adapter_not_found`, `no_adapter_installed`, `workspace_not_found`, `cwd_invalid`, `cwd_not_allowed`,
 * `invalid_request` for a session that is to be moved and cannot be; for an
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
  const moving = await hostLossOf(asked, { ...place, roots, policy })
  const described = newSession({ ...request, onHostLoss: moving.onHostLoss }, by, creation)
  const session = { ...described, adapterSlug, ...roots.place, ...lineage }
  const planned = { session: { ...session, ...envelopeOf(spawn) }, spawn }
  return {
    ...(await placed(planned, request, { ...place, asker: place, roots })),
    assertAdmitted() {
      // The parent may have ended meanwhile, and its children with it.
      if (by.type === 'session') assertQuota(parentOf(by, place).snapshot(), sessions.childrenOf(by.sessionId).length)
    },
  }
}

type Planned = Pick<PlannedSession, 'session' | 'spawn'>

/** In a worktree of its own if one is asked for; in that of another session if its folder is there. */
async function placed(
  planned: Planned,
  request: SpawnAgentRequest,
  start: WorktreeStart & Pick<Registrar, 'sessions'>,
): Promise<Planned> {
  const asked = askedWorktree(request.worktree)
  if (asked !== undefined) return inWorktree(planned, await newWorktree(asked, start))
  const shared = start.sessions.worktreeAt(start.roots.folders[0])
  if (shared === undefined) return planned
  const { worktree, workspaceSlug } = shared
  return {
    session: { ...planned.session, workspaceSlug, worktree: shownWorktree(worktree) },
    spawn: { ...planned.spawn, worktree },
  }
}

/** @throws `delegation_denied` when it is ending or gone */
function parentOf({ sessionId }: SessionPrincipal, { sessions }: Registrar): SessionActor {
  const parent = sessions.peek(sessionId)
  if (parent?.isLive === true && !isEnding(parent.state)) return parent
  throw new AgentprotoError('delegation_denied', 'The session that made the request has ended', { given: sessionId })
}
