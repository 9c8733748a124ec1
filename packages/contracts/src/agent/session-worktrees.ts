import type { Worktree, Worktrees } from './worktrees.js'

/** A session's worktree as its record has it: nothing of it is read from what an agent can write. */
export interface StoredWorktree extends Worktree {
  /** Real path of the folder that the start named; its workspace is the session's. */
  readonly folder: string
  /** Real path of what all worktrees of the repository share. */
  readonly commonDir: string
  /** Real path of what is the worktree's own in there. */
  readonly gitDir: string
}

export interface WorktreePreparation {
  /** Value of `AGENTPROTO_SESSION_ID` in what is started. */
  readonly sessionId: string
  readonly signal: AbortSignal
  /** What is done, and each line that the setup prints; bounded. */
  readonly report: (line: string) => void
}

/** The worktrees of a host's sessions. */
export interface SessionWorktrees {
  readonly git: Worktrees
  /** The folder of all of them; it need not exist. */
  readonly root: string
  /**
   * Does what the repository says in `.agentproto/worktree.json`, once, before the agent's first start: copies files that
   * git does not have, and runs its setup if the owner trusts the folder.
   * @throws `worktree_setup_failed`
   */
  prepare?(worktree: StoredWorktree, preparation: WorktreePreparation): Promise<void>
}
