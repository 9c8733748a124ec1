import { lstat, mkdir, realpath } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { AgentprotoError, type Clock, isAgentprotoError, randomId, systemClock } from '@agentproto/contracts'
import type {
  Abortable,
  CreateWorktree,
  MergeResult,
  MergeWorktree,
  Worktree,
  Worktrees,
  WorktreeStatus,
} from '@agentproto/contracts/agent'
import { startLimit } from '../git/abort.js'
import { findGit, type GitProgram } from '../git/git-program.js'
import { asError } from '../git-errors.js'
import { Queue } from '../queue.js'
import { Checkout } from './checkout.js'
import { mergeWorktree } from './merge.js'
import { findRepository, Repository } from './repository.js'
import { findStart } from './start-point.js'
import { readStatus, refuseLoss } from './worktree-status.js'

export interface WorktreesOptions {
  /** Absolute path of git; absent to look in the PATH of `env`. */
  readonly git?: string
  /** Absent for the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** For one call, in milliseconds; absent for two minutes. */
  readonly timeMs?: number
  readonly clock?: Clock
}

const TIME_MS = 120_000

/**
 * Worktrees of the user's repositories. Only references are changed through the repository's own configuration, with its hooks
 * off; files are written and compared through an empty one, so that no filter, driver or monitor that it names is started.
 */
export function createWorktrees(options: WorktreesOptions = {}): Worktrees {
  return new GitWorktrees(options)
}

class GitWorktrees implements Worktrees {
  readonly #options: WorktreesOptions
  readonly #clock: Clock
  /** One merge after the other: two may have the same target. */
  readonly #queue = new Queue()

  constructor(options: WorktreesOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  create(request: CreateWorktree): Promise<Worktree> {
    return this.#on(request.repository, request, async (repository) => {
      await checkPlace(request.at)
      const branch = request.branch ?? randomId('agentproto/').slice(0, 20)
      await checkBranch(repository, branch)
      const start = await findStart(repository, { ...request, branch })
      await mkdir(dirname(request.at), { recursive: true })
      await repository.addWorktree({ at: request.at, branch, ...start })
      const path = await realpath(request.at)
      const worktree: Worktree = {
        path,
        branch,
        ownBranch: !start.branchExists,
        base: start.base,
        baseCommit: start.commit,
        repository: repository.folder,
      }
      await this.#fill(repository, worktree)
      return worktree
    })
  }

  status(worktree: Worktree, options: Abortable = {}): Promise<WorktreeStatus> {
    return this.#on(worktree.repository, options, (repository) => readStatus(repository, worktree))
  }

  merge(worktree: Worktree, request: MergeWorktree): Promise<MergeResult> {
    return this.#on(worktree.repository, request, (repository) => mergeWorktree(repository, worktree, request))
  }

  discard(worktree: Worktree, options: Abortable & { readonly force?: boolean } = {}): Promise<void> {
    return this.#on(worktree.repository, options, async (repository) => {
      if (options.force !== true) refuseLoss(worktree, await readStatus(repository, worktree))
      await repository.removeWorktree(worktree.path)
      if (worktree.ownBranch) await repository.deleteBranch(worktree.branch)
    })
  }

  /** Without its files, a worktree would show all of them as deleted. */
  async #fill(repository: Repository, { path, branch, ownBranch, baseCommit }: Worktree): Promise<void> {
    try {
      const checkout = await Checkout.open(repository, path)
      await checkout.fill(baseCommit)
    } catch (thrown) {
      await repository.removeWorktree(path)
      if (ownBranch) await repository.deleteBranch(branch)
      throw thrown
    }
  }

  #on<T>(folder: string, { signal: abort }: Abortable, run: (repository: Repository) => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      const { timeMs = TIME_MS, env = process.env } = this.#options
      const limit = startLimit({ clock: this.#clock, ms: timeMs, signal: abort })
      let repository: Repository | undefined
      try {
        const { signal } = limit
        signal.throwIfAborted()
        const program = await this.#program(signal)
        const place = await findRepository(folder)
        repository = await Repository.open({ ...place, program, env, clock: this.#clock, signal })
        return await run(repository)
      } catch (thrown) {
        throw isAgentprotoError(thrown) ? thrown : asError(thrown)
      } finally {
        await repository?.close()
        limit.clear()
      }
    })
  }

  async #program(signal: AbortSignal): Promise<GitProgram> {
    const { git, env = process.env } = this.#options
    const found = await findGit({ git, env, clock: this.#clock }, signal)
    if (found.kind === 'found') return found.program
    throw new AgentprotoError('git_unavailable', found.detail, { hint: 'Install git 2.38 or newer.' })
  }
}

async function checkPlace(at: string): Promise<void> {
  const exists = (await lstat(at).catch(() => undefined)) !== undefined
  if (isAbsolute(at) && !exists) return
  throw new AgentprotoError('path_invalid', 'The worktree cannot be created here.', {
    expected: 'an absolute path that does not exist',
    given: at,
  })
}

async function checkBranch(repository: Repository, branch: string): Promise<void> {
  if (await repository.isBranchName(branch)) return
  throw new AgentprotoError('branch_invalid', 'This is not a name of a branch.', { given: branch })
}
