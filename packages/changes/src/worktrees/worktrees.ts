import { existsSync } from 'node:fs'
import { mkdir, realpath, rm } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { AgentprotoError, type Clock, isAgentprotoError, randomId, systemClock } from '@agentproto/contracts'
import type {
  Abortable,
  CreateWorktree,
  FetchBranch,
  FetchedBranch,
  MergeResult,
  MergeWorktree,
  RepositoryFolders,
  Worktree,
  Worktrees,
  WorktreeStatus,
} from '@agentproto/contracts/agent'
import { startLimit } from '../git/abort.js'
import { findGit, type GitProgram } from '../git/git-program.js'
import { asError } from '../git-errors.js'
import { Queue } from '../queue.js'
import { Checkout } from './checkout.js'
import { fetchBranch } from './fetch-branch.js'
import { mergeWorktree } from './merge.js'
import { findRepository, Repository } from './repository.js'
import { findStart, type StartPoint } from './start-point.js'
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
/** A call that has begun to write may take so many times as long. */
const LATE = 5

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
  /** Of each repository, one call after the other: two merges may have the same target. */
  readonly #queues = new Map<string, Queue>()

  constructor(options: WorktreesOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async find(folder: string): Promise<RepositoryFolders> {
    const { gitDir, ...shared } = await findRepository(folder)
    return { ...shared, gitDir: await realpath(gitDir) }
  }

  create(request: CreateWorktree): Promise<Worktree> {
    return this.#on(request.repository, request, async (repository) => {
      const branch = request.branch ?? randomId('agentproto/').slice(0, 20)
      await checkBranch(repository, branch)
      const start = await findStart(repository, { ...request, branch })
      await plan(request, { path: request.at, branch, repository: repository.folder, start })
      await createPlace(request.at)
      repository.beginWrites()
      return createFrom(repository, { at: request.at, branch, start })
    })
  }

  fetch({ repository: folder, branch, ...options }: FetchBranch): Promise<FetchedBranch | undefined> {
    const { env = process.env } = this.#options
    return this.#on(folder, options, async (repository) => {
      await checkBranch(repository, branch)
      return fetchBranch(repository, branch, { env, clock: this.#clock })
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
      repository.beginWrites()
      await repository.removeWorktree(worktree.path)
      if (worktree.ownBranch) await repository.deleteBranch(worktree.branch)
    })
  }

  async #on<T>(folder: string, options: Abortable, run: (repository: Repository) => Promise<T>): Promise<T> {
    const { commonDir } = await findRepository(folder)
    const queue = this.#queues.get(commonDir) ?? new Queue()
    this.#queues.set(commonDir, queue)
    return queue.run(() => this.#alone(folder, options, run))
  }

  async #alone<T>(
    folder: string,
    { signal: abort }: Abortable,
    run: (repository: Repository) => Promise<T>,
  ): Promise<T> {
    const { timeMs = TIME_MS, env = process.env } = this.#options
    const limit = startLimit({ clock: this.#clock, ms: timeMs, signal: abort })
    const late = startLimit({ clock: this.#clock, ms: timeMs * LATE })
    let repository: Repository | undefined
    try {
      const { signal } = limit
      signal.throwIfAborted()
      const program = await this.#program(signal)
      // Again: it may have changed while others were waited for.
      const place = await findRepository(folder)
      const during = { clock: this.#clock, signal, lateSignal: late.signal }
      repository = await Repository.open({ ...place, ...during, program, env })
      return await run(repository)
    } catch (thrown) {
      throw isAgentprotoError(thrown) ? thrown : asError(thrown)
    } finally {
      await repository?.close()
      limit.clear()
      late.clear()
    }
  }

  async #program(signal: AbortSignal): Promise<GitProgram> {
    const { git, env = process.env } = this.#options
    const found = await findGit({ git, env, clock: this.#clock }, signal)
    if (found.kind === 'found') return found.program
    throw new AgentprotoError('git_unavailable', found.detail, { hint: 'Install git 2.32 or newer.' })
  }
}

interface Plan {
  readonly path: string
  readonly branch: string
  readonly repository: string
  readonly start: StartPoint
}

/** What is there already is not what is planned: the next start may remove what the plan names. */
async function plan({ at, onPlanned }: CreateWorktree, { start, ...place }: Plan): Promise<void> {
  if (onPlanned === undefined) return
  if (existsSync(at)) throw placeInvalid(at)
  const { branchExists, base, commit } = start
  await onPlanned({ ...place, ownBranch: !branchExists, base, baseCommit: commit })
}

/** The folder is created here, so that it is ours. */
async function createPlace(at: string): Promise<void> {
  try {
    if (!isAbsolute(at)) throw new Error('The path is not absolute')
    await mkdir(dirname(at), { recursive: true })
    await mkdir(at)
  } catch (thrown) {
    throw placeInvalid(at, thrown)
  }
}

const placeInvalid = (at: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('path_invalid', 'The worktree cannot be created here.', {
    expected: 'an absolute path that does not exist, in a folder that can be written',
    given: at,
    cause,
  })

async function checkBranch(repository: Repository, branch: string): Promise<void> {
  if (await repository.isBranchName(branch)) return
  throw new AgentprotoError('branch_invalid', 'This is not a name of a branch.', { given: branch })
}

interface Creation {
  readonly at: string
  readonly branch: string
  readonly start: StartPoint
}

/** Leaves nothing where it fails. */
async function createFrom(repository: Repository, { at, branch, start }: Creation): Promise<Worktree> {
  const { branchExists, base, commit } = start
  try {
    await repository.addWorktree({ at, branch, ...start })
    const path = await realpath(at)
    await (await Checkout.open(repository, path)).fill(commit)
    return { path, branch, ownBranch: !branchExists, base, baseCommit: commit, repository: repository.folder }
  } catch (thrown) {
    const path = await realpath(at).catch(() => at)
    if ((await repository.worktrees()).some((each) => each.path === path)) await repository.removeWorktree(path)
    await rm(path, { recursive: true, force: true })
    if (!branchExists) await repository.deleteBranch(branch)
    throw thrown
  }
}
