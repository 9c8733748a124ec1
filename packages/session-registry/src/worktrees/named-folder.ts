import type { Session } from '@agentproto/contracts'

/**
 * Where a session is counted to run when the bounds of a caller are asked: a worktree lies in the home, and counts as the folder
 * that its start named.
 */
export const namedFolderOf = ({ cwd, worktree }: Pick<Session, 'cwd' | 'worktree'>): string => worktree?.folder ?? cwd
