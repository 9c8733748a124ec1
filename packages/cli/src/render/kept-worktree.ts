/** The warning about a worktree that outlives its session. */
export const keptWorktree = (path: string): string =>
  `the worktree ${path} has work that is not merged, and is kept; delete it with: git worktree remove --force`
