import { relative } from 'node:path'
import {
  AgentprotoError,
  defined,
  type IdempotencyDigests,
  isAgentprotoError,
  type Principal,
  type Session,
} from '@agentproto/contracts'
import type { StoredWorktree } from '@agentproto/contracts/agent'
import type { ForkRequest, SpawnAgentRequest } from '@agentproto/contracts/wire'
import type { SessionChangeService } from '../changes/session-changes.js'
import { type Asker, sameNamedFoldersOf, sameRootsOf } from '../delegation/root-folder.js'
import { SESSION_ID_PREFIX } from '../records/session-id.js'
import type { Moves } from '../moves/session-moves.js'
import type { SessionActor } from '../session/actor.js'
import { contentOf } from '../session/state.js'
import type { SessionCache } from '../session-cache.js'
import type { SessionHost } from '../session-host.js'
import {
  askedWorktree,
  inWorktree,
  newWorktree,
  type NewWorktree,
  removeWorktree,
  type WorktreeRequest,
} from '../worktrees/new-worktree.js'
import { planSession } from './creation.js'
import { messageOf } from './ending.js'
import { failedLaunch } from './failed-launch.js'
import { forkOf } from './fork.js'
import type { Launch } from './launch.js'
import { assertHere } from './moved.js'
import type { Creation } from './spawn-request.js'

export interface StartsHost extends Pick<
  SessionHost,
  'adapters' | 'clock' | 'config' | 'newId' | 'hostId' | 'onProblem' | 'workspaces' | 'worktrees'
> {
  readonly sessions: SessionCache
  readonly asker: (by: Principal) => Asker
  readonly changes: Pick<SessionChangeService, 'copyTurn'>
  readonly moves: Pick<Moves, 'assertMayRun'>
  /** @throws `session_limit_reached`, `shutting_down` */
  readonly assertRoom: () => void
  /** @throws `budget_exceeded` where the budgets that the session shares are used up */
  readonly assertBudget: (session: Session) => void
  /** Deletes a session that never was. */
  readonly discard: (session: SessionActor) => Promise<void>
}

interface AdmittedLaunch extends Launch {
  /** Called right before the session is added, with nothing awaited in between. */
  readonly assertAdmitted: () => void
}

/** Starts new sessions. */
export class SessionStarts {
  readonly #host: StartsHost

  constructor(host: StartsHost) {
    this.#host = host
  }

  /** @param idempotency of a call with a key: stored, so that the next host recognises a repeat */
  async spawn(request: SpawnAgentRequest, by: Principal, idempotency?: IdempotencyDigests): Promise<Session> {
    const { asker, assertRoom } = this.#host
    if (askedWorktree(request.worktree) !== undefined) assertRoom()
    const place = { ...this.#host, ...asker(by), create: () => this.#creation() }
    const { session, spawn: planned, assertAdmitted: assertParent } = await planSession(request, place)
    const spawn = { ...planned, ...defined({ idempotency }) }
    const assertAdmitted = (): void => {
      assertRoom()
      assertParent()
    }
    return this.#launch({ ...request, stored: { session, spawn }, origin: { how: 'new' }, by, assertAdmitted })
  }

  /** Goes on with a session that an earlier host has started, and to which it may not have sent the first prompt. */
  async goOn(session: SessionActor, { prompt }: SpawnAgentRequest, { trace }: Principal): Promise<Session> {
    const isPrompted = session.turns.count > 0 || session.state.queue.length > 0
    if (prompt !== undefined && session.isLive && !isPrompted)
      await session.call('prompt', { content: contentOf(prompt), origin: 'spawn', trace })
    return session.snapshot()
  }

  async fork(old: SessionActor, request: ForkRequest, by: Principal): Promise<Session> {
    const { asker, assertRoom: assertAdmitted } = this.#host
    assertHere(old.snapshot())
    const roots = await sameRootsOf(old.stored(), asker(by))
    assertAdmitted()
    const { origin, ...same } = forkOf(old.stored(), request, { by, creation: this.#creation(), roots })
    const asked = askedWorktree(request.worktree)
    if (asked === undefined && request.turn !== undefined) throw turnWithoutWorktree()
    const made = asked && (await this.#worktreeFrom(old, asked, by))
    if (made !== undefined && request.turn !== undefined) await this.#fill(made, old.id, request.turn)
    const stored = made === undefined ? same : inWorktree(same, made)
    return this.#launch({ ...request, stored, origin, by, assertAdmitted })
  }

  /** From the branch of the old session's worktree, if it has one. */
  async #worktreeFrom(old: SessionActor, asked: WorktreeRequest, by: Principal): Promise<NewWorktree> {
    const { worktrees, newId } = this.#host
    const asker = this.#host.asker(by)
    const roots = await sameNamedFoldersOf(old.stored(), asker)
    const base = asked.base ?? old.state.spawn.worktree?.branch
    return newWorktree({ ...asked, ...defined({ base }) }, { worktrees, asker, roots, newId })
  }

  async #fill({ worktree, roots }: NewWorktree, id: string, turn: number): Promise<void> {
    const { changes, worktrees } = this.#host
    try {
      assertSameFolder(worktree, roots.folders[0])
      await changes.copyTurn(id, turn, roots.folders[0])
    } catch (thrown) {
      await worktrees?.git.discard(worktree, { force: true })
      throw thrown
    }
  }

  async #launch(launch: AdmittedLaunch): Promise<Session> {
    try {
      return await this.#started(launch)
    } catch (thrown) {
      await this.#removeWorktree(launch)
      throw thrown
    }
  }

  async #started({ stored, origin, prompt, by: { trace }, assertAdmitted }: AdmittedLaunch): Promise<Session> {
    const { sessions, moves, assertBudget, discard, onProblem } = this.#host
    const { id } = stored.session
    // Nothing is awaited between the counts and the entry, so that the limits hold for concurrent spawns.
    assertAdmitted()
    moves.assertMayRun(stored.session)
    assertBudget(stored.session)
    sessions.put({ version: 1, ...stored, turns: [], requests: [] })
    const session = sessions.get(id)
    try {
      await session.call('start', { origin, trace })
      if (prompt !== undefined) await session.call('prompt', { content: contentOf(prompt), origin: 'spawn', trace })
      return session.snapshot()
    } catch (thrown) {
      if (!isAgentprotoError(thrown)) throw thrown
      throw await failedLaunch(thrown, {
        id,
        discard: () => discard(session).catch((problem: unknown) => onProblem(messageOf(problem))),
      })
    }
  }

  /** That of a start that failed: where no agent was started, no work is lost. One whose first prompt failed is live. */
  async #removeWorktree({ stored: { session, spawn } }: Launch): Promise<void> {
    const { sessions, worktrees, onProblem } = this.#host
    const { worktree, ownsWorktree } = spawn
    const failed = sessions.peek(session.id)
    if (worktree === undefined || ownsWorktree !== true || failed?.isLive === true) return
    const kept = await removeWorktree(worktrees, worktree, { force: failed?.state.agentStartedAt === undefined })
    if (kept !== undefined) onProblem(kept)
  }

  #creation(): Creation {
    const { clock, newId, hostId } = this.#host
    return { id: newId(SESSION_ID_PREFIX), now: new Date(clock.now()).toISOString(), hostId }
  }
}

/** Setting files back in a folder that others use is a rewind. */
const turnWithoutWorktree = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'A fork with the files of a turn needs a worktree of its own', {
    expected: 'worktree with turn',
    data: { field: 'turn' },
  })

/** A checkpoint of one folder is not copied to another one. */
function assertSameFolder({ path, repository, folder }: StoredWorktree, into: string): void {
  if (relative(path, into) === relative(repository, folder)) return
  throw new AgentprotoError('checkpoint_failed', 'The worktree does not have the folder of the session', {
    expected: relative(repository, folder),
    hint: 'Commit something in this folder first',
  })
}
