import { sep } from 'node:path'
import type { PermissionRule } from '@agentproto/contracts'
import type { StoredWorktree } from '@agentproto/contracts/agent'
import { escapePattern } from '../permissions/pattern.js'

/** A session's worktree has the files of the repository at another place: so have its rules. */
type Places = Pick<StoredWorktree, 'path' | 'repository'>

/** The rules of a workspace, and those about files of the repository also for the same files of the worktree. */
export const rulesInWorktree = (
  rules: readonly PermissionRule[],
  worktree: Places | undefined,
): readonly PermissionRule[] =>
  worktree === undefined
    ? rules
    : rules.flatMap((rule) => {
        const moved = movedRule(rule, { from: worktree.repository, to: worktree.path })
        return moved === undefined ? [rule] : [rule, moved]
      })

/** A rule that is made in a worktree and kept for its workspace: about the repository's own files. */
export const ruleOfWorkspace = (rule: PermissionRule, worktree: Places | undefined): PermissionRule =>
  (worktree && movedRule(rule, { from: worktree.path, to: worktree.repository })) ?? rule

function movedRule(
  rule: PermissionRule,
  { from, to }: { readonly from: string; readonly to: string },
): PermissionRule | undefined {
  const { path } = rule.match
  const [old, now] = [patternOf(from), patternOf(to)]
  if (path === undefined || (path !== old && !path.startsWith(`${old}/`))) return undefined
  return { ...rule, match: { ...rule.match, path: `${now}${path.slice(old.length)}` } }
}

const patternOf = (folder: string): string => escapePattern(folder.split(sep).join('/'))
