import { defined } from '@agentproto/contracts'
import type { ChangeTotals, FileChange } from '@agentproto/contracts/agent'
import type { Git } from '../git/git.js'
import { filterInSlices } from '../slice.js'
import type { LeftOutSet } from './left-out-set.js'
import type { Snapshot } from './shadow-repository.js'
import { listChanges, totalsOf } from './tree-diff.js'

/** The trees of a session's first and last checkpoint. */
export interface SessionProgress {
  readonly first: string
  readonly latest: string
  /** What changed between them, where that holds for the next checkpoint of the same tree too. */
  readonly total?: ChangeTotals
}

export interface NextState {
  readonly snapshot: Snapshot
  /** What is known to have changed since the last checkpoint of the session. */
  readonly changed: readonly FileChange[]
  readonly signal: AbortSignal
}

/** What changed since the first checkpoint of a session. git compares the two only where that is not known. */
export async function totalSince(
  git: Git,
  { first, latest, total }: SessionProgress,
  { snapshot: { tree, leftOut }, changed, signal }: NextState,
): Promise<ChangeTotals> {
  if (tree === latest && total !== undefined && leftOut.count === 0) return total
  if (first === latest) return totalsOf(changed)
  return totalsOf(await knownIn(leftOut, await listChanges(git, { from: first, to: tree, signal })))
}

/** The progress of a session with one more checkpoint. */
export const advanced = (
  { first }: SessionProgress,
  { tree, leftOut }: Snapshot,
  total: ChangeTotals | undefined,
): SessionProgress => ({ first, latest: tree, ...(leftOut.count === 0 ? defined({ total }) : {}) })

/** Changes without the deletions of what the later state merely does not contain. */
export const knownIn = (leftOut: LeftOutSet, changes: readonly FileChange[]): Promise<readonly FileChange[]> =>
  filterInSlices(changes, ({ path, status }) => status !== 'deleted' || !leftOut.covers(path))
