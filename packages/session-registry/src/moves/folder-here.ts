import { isAgentprotoError, type SessionWorktree } from '@agentproto/contracts'
import type { FetchedBranch, StoredWorktree, Worktree } from '@agentproto/contracts/agent'
import type { Roots } from '../delegation/root-folder.js'
import { messageOf } from '../lifecycle/ending.js'
import type { SessionHost } from '../session-host.js'
import { newWorktree, type NewWorktree, removeWorktree, shownWorktree } from '../worktrees/new-worktree.js'
import type { WorktreeRequest } from '../worktrees/new-worktree.js'
import type { LostFacts } from './lost-facts.js'
import { fleetAsker, type Placed, type PlaceHost } from './place-here.js'

/** The folder of a session that another host had: that of its workspace, or a new worktree with the work of its branch. */

export interface Folder {
  readonly roots: Roots
  readonly worktree?: StoredWorktree
  readonly shown?: SessionWorktree
  /** For people. */
  readonly notes: readonly string[]
  /** Whether an agent may run in it. */
  readonly isSafe: boolean
}

export interface FolderHost extends PlaceHost, Pick<SessionHost, 'worktrees' | 'newId' | 'onProblem'> {
  /** Keeps what is to be created, so that the next start of a host that was killed finds it. */
  readonly onPlanned: (planned: Worktree) => Promise<void>
}

/**
 * A session that had a worktree gets another one: in the folder of the workspace it would change what it was kept apart from.
 * Without one it stays ended. Never rejects for what git says.
 */
export async function folderHere(facts: LostFacts, { roots }: Placed, host: FolderHost): Promise<Folder> {
  const { worktree: lost, from } = facts
  if (lost === undefined) return { roots, notes: [], isSafe: true }
  const { fetched, note } = await fetchedBranch(lost.branch, roots, host)
  try {
    const made = await firstOf(choices(lost, fetched), roots, host)
    const { branch, base } = made.worktree
    const start = `It goes on in a new worktree, on the branch ${branch} from ${fetched?.commit ?? base}`
    return {
      roots: made.roots,
      worktree: made.worktree,
      shown: shownWorktree(made.worktree),
      notes: [note, `${start}; what was not pushed stayed on ${from}`],
      isSafe: true,
    }
  } catch (thrown) {
    const why = `It had a worktree, and none can be created here: ${messageOf(thrown)}`
    return { roots, notes: [note, `${why}. It does not run in the folder of its workspace`], isSafe: false }
  }
}

/** Takes back what was created for a session that could not be taken over. */
export async function discardFolder(
  folder: Folder | undefined,
  { worktrees, onProblem }: Pick<FolderHost, 'worktrees' | 'onProblem'>,
): Promise<void> {
  if (folder?.worktree === undefined) return
  const kept = await removeWorktree(worktrees, folder.worktree, { force: true })
  if (kept !== undefined) onProblem(kept)
}

interface Fetched {
  readonly fetched?: FetchedBranch
  readonly note: string
}

async function fetchedBranch(
  branch: string,
  { folders }: Roots,
  { worktrees }: Pick<FolderHost, 'worktrees'>,
): Promise<Fetched> {
  try {
    const fetched = await worktrees?.git.fetch?.({ repository: folders[0], branch })
    return fetched === undefined
      ? { note: `No remote of the repository here has its branch ${branch}` }
      : { fetched, note: `Its branch ${branch} was fetched from ${fetched.remote}` }
  } catch (thrown) {
    return { note: `Its branch ${branch} could not be fetched: ${messageOf(thrown)}` }
  }
}

/** What its worktree may start from, the best first. A branch of its name may be here, also with other work. */
const choices = (
  { branch, base }: NonNullable<LostFacts['worktree']>,
  fetched: FetchedBranch | undefined,
): readonly WorktreeRequest[] =>
  fetched === undefined
    ? [{ base: branch }, { branch, base }, { branch }, {}]
    : [{ branch, base: fetched.commit }, { base: fetched.commit }]

/** The first that git accepts. @throws as `newWorktree` */
async function firstOf(asked: readonly WorktreeRequest[], roots: Roots, host: FolderHost): Promise<NewWorktree> {
  const [first = {}, ...others] = asked
  const { worktrees, newId, onPlanned } = host
  try {
    return await newWorktree(first, { worktrees, asker: fleetAsker(host), roots, newId, onPlanned })
  } catch (thrown) {
    const isName = isAgentprotoError(thrown) && thrown.code === 'branch_invalid'
    if (!isName || others.length === 0) throw thrown
    return firstOf(others, roots, host)
  }
}
