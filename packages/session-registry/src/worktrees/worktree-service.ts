import { existsSync } from 'node:fs'
import { sep } from 'node:path'
import { AgentprotoError, type Principal } from '@agentproto/contracts'
import type { MergeResult, StoredWorktree, Worktrees } from '@agentproto/contracts/agent'
import type { DiscardWorktreeRequest, MergeWorktreeRequest, WorktreeService } from '@agentproto/contracts/wire'
import { assertNoAgent } from '../delegation/delegation.js'
import { type Asker, sameNamedFoldersOf } from '../delegation/root-folder.js'
import type { SessionActor } from '../session/actor.js'
import type { SessionCache } from '../session-cache.js'
import type { SessionHost } from '../session-host.js'
import { removeWorktree } from './new-worktree.js'

export interface WorktreeServiceHost extends Pick<SessionHost, 'worktrees' | 'onProblem'> {
  readonly sessions: SessionCache
  readonly asker: (by: Principal) => Asker
}

/** See {@link WorktreeService}. */
export class SessionWorktreeService implements WorktreeService {
  readonly #host: WorktreeServiceHost

  constructor(host: WorktreeServiceHost) {
    this.#host = host
  }

  async merge(id: string, request: MergeWorktreeRequest, by: Principal): Promise<MergeResult> {
    assertNoAgent(by, 'merge a worktree')
    const { session, worktree, git } = await this.#find(id, by)
    for (const other of this.#liveIn(worktree)) assertIdle(other)
    const { strategy = 'merge', message = messageFor(session), force = false } = request
    return git.merge(worktree, {
      strategy,
      message,
      commitFirst: true,
      ...(force ? {} : { beforeUpdate: (checkout) => this.#assertUnused(checkout) }),
    })
  }

  async discard(id: string, { force = false }: DiscardWorktreeRequest, by: Principal): Promise<void> {
    assertNoAgent(by, 'discard a worktree')
    const { worktree, git } = await this.#find(id, by)
    const [running] = this.#liveIn(worktree)
    if (running !== undefined)
      throw new AgentprotoError('session_live', 'A session runs in the worktree', {
        given: running.id,
        hint: `End it first: agentproto sessions kill ${running.id}`,
      })
    await git.discard(worktree, { force })
  }

  /**
   * Deletes the worktree of a session that is forgotten, unless another session has it or work would be lost.
   * @returns its path if it was kept for that work
   */
  async release({ id, state }: SessionActor): Promise<string | undefined> {
    const { worktree } = state.spawn
    const { sessions, worktrees, onProblem } = this.#host
    if (worktree === undefined || !existsSync(worktree.path)) return undefined
    if (sessions.inWorktree(worktree.path).some((other) => other !== id)) return undefined
    const kept = await removeWorktree(worktrees, worktree)
    if (kept === undefined) return undefined
    onProblem(`Session ${id} is forgotten. ${kept}`)
    return worktree.path
  }

  async #find(
    id: string,
    by: Principal,
  ): Promise<{ readonly session: SessionActor; readonly worktree: StoredWorktree; readonly git: Worktrees }> {
    const { sessions, worktrees, asker } = this.#host
    const session = sessions.get(id)
    const { worktree } = session.state.spawn
    if (worktree === undefined || worktrees === undefined)
      throw new AgentprotoError('not_supported', 'The session has no worktree', {
        hint: 'Start a session with a worktree to have one',
      })
    await sameNamedFoldersOf(session.stored(), asker(by))
    if (existsSync(worktree.path)) return { session, worktree, git: worktrees.git }
    throw new AgentprotoError('repository_invalid', 'The worktree of the session is gone', { expected: worktree.path })
  }

  /**
   * An agent that works in the checkout would read and write files of two states, or commit what the merge brings as its own.
   * @throws `folder_in_use`
   */
  #assertUnused(checkout: string): void {
    const working = this.#host.sessions.live.find(
      ({ state }) => state.session.turn.state !== 'idle' && worksIn(checkout, state),
    )
    if (working === undefined) return
    throw new AgentprotoError('folder_in_use', 'Another session works in the checkout of the branch', {
      given: `${checkout}, where a turn of ${working.id} runs`,
      hint: 'Merge after that turn, or with "force" (sessions merge --force)',
    })
  }

  #liveIn({ path }: StoredWorktree): readonly SessionActor[] {
    const { sessions } = this.#host
    const ids = new Set(sessions.inWorktree(path))
    return sessions.live.filter(({ id }) => ids.has(id))
  }
}

/** A worktree may be in a folder of the checkout. */
const worksIn = (checkout: string, { spawn, session }: SessionActor['state']): boolean =>
  (spawn.roots ?? [session.cwd]).some(
    (folder) => isAt(folder, checkout) && !isAt(folder, spawn.worktree?.path ?? `${folder}${sep}`),
  )

const isAt = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}${sep}`)

/** While a turn runs, files may be half written. @throws `turn_in_progress` */
function assertIdle({ id, state }: SessionActor): void {
  if (state.session.turn.state === 'idle') return
  throw new AgentprotoError('turn_in_progress', 'A turn is running in the worktree', {
    given: id,
    hint: 'Merge it after the turn, or interrupt it first',
  })
}

/** Of one line: the title often is the first prompt. */
function messageFor({ id, state: { session } }: SessionActor): string {
  const title = (session.title ?? session.label ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 72)
  return `${title === '' ? `Work of ${session.adapterSlug}` : title}\n\nAgentproto-Session: ${id}`
}
