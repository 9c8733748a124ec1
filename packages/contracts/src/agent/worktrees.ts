import type { Abortable } from './change-store.js'

/** A git worktree of its own, on a branch of its own. */
export interface Worktree {
  /** Real path of its folder. */
  readonly path: string
  readonly branch: string
  /** Whether the branch was created with it: only then a discard deletes it. */
  readonly ownBranch: boolean
  /** The branch that it was started from and that a merge goes to; a commit where there was none. */
  readonly base: string
  /** The commit that it was started from. */
  readonly baseCommit: string
  /** Real path of the repository: the folder above `.git`, or a bare repository. */
  readonly repository: string
}

export interface CreateWorktree extends Abortable {
  /** A folder in a repository, or a bare repository. */
  readonly repository: string
  /** Where it is created; must not exist. */
  readonly at: string
  /** A new branch, or an existing one that is not checked out; absent for a new one with a random name. */
  readonly branch?: string
  /** A branch or a commit; absent for what the repository has checked out. Only with a new branch. */
  readonly base?: string
  /** Called with what is to be created, before anything of it is there; nothing is created where it rejects. */
  readonly onPlanned?: ((planned: Worktree) => Promise<void>) | undefined
}

export interface FetchBranch extends Abortable {
  /** A folder in a repository. */
  readonly repository: string
  readonly branch: string
}

/** A branch that a remote has. */
export interface FetchedBranch {
  readonly remote: string
  /** The repository has it now; no branch of it was changed. */
  readonly commit: string
}

export interface WorktreeStatus {
  /** Whether the folder still exists. */
  readonly exists: boolean
  /** Changed, staged and unknown files, and filled submodules; the first 100. Ignored files are not counted. */
  readonly dirty: readonly string[]
  readonly dirtyCount: number
  /** An unfinished merge, rebase, cherry-pick, revert or bisect. */
  readonly operation?: string
  /** Commits that the base does not have. */
  readonly ahead: number
  /** Commits of the base that the branch does not have. */
  readonly behind: number
  /** Whether a merge would change nothing in the base, also after a squash or a rebase. */
  readonly merged: boolean
}

export const MERGE_STRATEGIES = ['merge', 'squash', 'rebase'] as const
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number]

export interface MergeWorktree extends Abortable {
  readonly strategy: MergeStrategy
  /** Of the merge or the squashed commit, and of a commit of what is uncommitted. */
  readonly message?: string
  /** The branch to merge into; absent for the base. */
  readonly into?: string
  /** Whether uncommitted work is committed to the branch first; else it is refused. */
  readonly commitFirst?: boolean
  /**
   * Called with the folder of the checkout that is to be updated, if there is one, before anything is changed. It throws to
   * refuse.
   */
  readonly beforeUpdate?: (checkout: string) => void
}

export interface MergeResult {
  /** The branch that was merged into. */
  readonly into: string
  /** Its commit now. */
  readonly commit: string
  /** How many commits it received; 0 where there was nothing to merge. */
  readonly commits: number
}

/** Where a repository is. All are real paths. */
export interface RepositoryFolders {
  /** The folder above `.git`, or the bare repository. */
  readonly folder: string
  /** What all of its worktrees share. */
  readonly commonDir: string
  /** What is the asked folder's own: its HEAD and index. */
  readonly gitDir: string
}

/** Creates, merges and removes worktrees. Writes in the user's repository, on purpose; runs no hook and no filter of it. */
export interface Worktrees {
  /** The repository of a folder; reads only files. @throws `repository_invalid` */
  find(folder: string): Promise<RepositoryFolders>
  /** @throws `repository_invalid`, `branch_invalid`, `path_invalid`, `git_unavailable`, `git_failed` */
  create(request: CreateWorktree): Promise<Worktree>
  /**
   * Brings the commits of a branch from the first remote that has it and a history in common with the repository. Optional: without
   * it nothing is fetched.
   * @returns undefined where no remote has it
   * @throws `branch_invalid`, `repository_invalid`, `git_unavailable`, `git_failed` where no remote could be asked
   */
  fetch?(request: FetchBranch): Promise<FetchedBranch | undefined>
  /** @throws `repository_invalid`, `git_unavailable`, `git_failed` */
  status(worktree: Worktree, options?: Abortable): Promise<WorktreeStatus>
  /**
   * All or nothing: on a conflict neither branch is changed.
   * @throws `worktree_unsaved`, `merge_conflict` with `data.files`, `checkout_dirty` with `data.files`, `branch_invalid`,
   * `repository_invalid`, `git_unavailable`, `git_failed`
   */
  merge(worktree: Worktree, request: MergeWorktree): Promise<MergeResult>
  /**
   * Deletes the folder, and the branch if it is its own. Ignored files are lost. Without `force` only when nothing would be lost.
   * @throws `worktree_unsaved`, `repository_invalid`, `git_unavailable`, `git_failed`
   */
  discard(worktree: Worktree, options?: Abortable & { readonly force?: boolean }): Promise<void>
}
