import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { StartAgentOptions, StoredWorktree } from '@agentproto/contracts/agent'

/** What a commit in the worktree writes, of what all worktrees share. */
const WRITTEN = ['objects', 'refs', 'logs']

/** What of its repository the agent of a worktree may read, and write: not its configuration, its hooks and other worktrees. */
export function repositoryAccess(worktree: StoredWorktree | undefined): Pick<StartAgentOptions, 'repository'> {
  if (worktree === undefined) return {}
  const { commonDir, gitDir } = worktree
  // A repository without its own folder of this worktree is not the one that it was created from.
  if (dirname(gitDir) !== join(commonDir, 'worktrees')) return {}
  const shared = WRITTEN.map((name) => join(commonDir, name)).filter((path) => existsSync(path))
  return { repository: { worktree: worktree.path, readable: [commonDir], writable: [...shared, gitDir] } }
}
