import { AgentprotoError } from '@agentproto/contracts'
import type { Worktree, WorktreeStatus } from '@agentproto/contracts/agent'
import { isFile } from '../git/repository-files.js'
import { Checkout } from './checkout.js'
import { mergedTree } from './merged-tree.js'
import type { Repository } from './repository.js'

const LISTED = 100

export async function readStatus(repository: Repository, worktree: Worktree): Promise<WorktreeStatus> {
  const branch = (await repository.branchCommit(worktree.branch)) ?? worktree.baseCommit
  const files = await readFiles(repository, worktree, branch)
  const base = (await repository.commitOf(worktree.base)) ?? worktree.baseCommit
  const counts = await repository.text(['rev-list', '--left-right', '--count', `${base}...${branch}`])
  const [behind = 0, ahead = 0] = counts.split('\t').map(Number)
  return { ...files, ahead, behind, merged: ahead === 0 || (await changesNothing(repository, base, branch)) }
}

/** @throws `worktree_unsaved` where a discard would lose something */
export function refuseLoss({ path, branch, base, ownBranch }: Worktree, status: WorktreeStatus): void {
  const reasons = [
    ...(status.dirtyCount > 0 ? [`${status.dirtyCount} files are not committed`] : []),
    ...(status.operation === undefined ? [] : [`it is in the middle of a ${status.operation}`]),
    ...(ownBranch && !status.merged ? [`${status.ahead} commits of ${branch} are not in ${base}`] : []),
  ]
  if (reasons.length === 0) return
  throw new AgentprotoError(
    'worktree_unsaved',
    `The worktree ${path} has work that would be lost: ${reasons.join(', ')}.`,
    {
      hint: 'Commit and merge it, or discard it with force.',
      data: { dirty: status.dirty, ahead: status.ahead },
    },
  )
}

type FileStatus = Pick<WorktreeStatus, 'exists' | 'dirty' | 'dirtyCount' | 'operation'>

async function readFiles(repository: Repository, { path }: Worktree, branch: string): Promise<FileStatus> {
  if (!(await isFile(`${path}/.git`))) return { exists: false, dirty: [], dirtyCount: 0 }
  const checkout = await Checkout.open(repository, path)
  const head = await checkout.head()
  const dirty = await checkout.dirty(head.commit ?? branch)
  const operation = (await checkout.operation()) ?? (await detached(repository, head, branch))
  return {
    exists: true,
    dirty: dirty.slice(0, LISTED),
    dirtyCount: dirty.length,
    ...(operation === undefined ? {} : { operation }),
  }
}

/** Commits that no branch has would be lost with the worktree. */
async function detached(
  repository: Repository,
  { branch, commit }: { readonly branch?: string; readonly commit?: string },
  own: string,
): Promise<string | undefined> {
  if (branch !== undefined || commit === undefined) return undefined
  const missing = await repository.text(['rev-list', '--count', `${own}..${commit}`])
  return missing === '0' ? undefined : 'detached HEAD'
}

/** After a squash or a rebase the commits are other ones. */
async function changesNothing(repository: Repository, base: string, branch: string): Promise<boolean> {
  const merged = await mergedTree(repository, base, branch)
  return merged.kind === 'tree' && merged.tree === (await repository.text(['rev-parse', `${base}^{tree}`]))
}
