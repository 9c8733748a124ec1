import { createHash } from 'node:crypto'
import { mkdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { AgentprotoError, defined, type Principal, type Session, type SessionWorktree } from '@agentproto/contracts'
import type {
  CreateWorktree,
  SessionWorktrees,
  StoredSpawn,
  StoredWorktree,
  Worktree,
} from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { type Asker, type Roots, rootsOf } from '../delegation/root-folder.js'
import { messageOf } from '../lifecycle/ending.js'
import { isInside, realPath } from '../permissions/real-path.js'

/** An object, where a worktree is asked for. */
export type WorktreeRequest = Exclude<SpawnAgentRequest['worktree'], boolean | undefined>

/** What a start asks for: a worktree, or none. */
export const askedWorktree = (worktree: SpawnAgentRequest['worktree']): WorktreeRequest | undefined =>
  worktree === undefined || worktree === false ? undefined : worktree === true ? {} : worktree

/** What is created for a start, and may be taken back. */
export interface NewWorktree {
  readonly worktree: StoredWorktree
  /** The folders of the session: in the worktree, and what it has beside it. */
  readonly roots: Roots
}

export interface WorktreeStart {
  readonly worktrees?: SessionWorktrees | undefined
  readonly asker: Asker
  readonly roots: Roots
  readonly newId: (prefix: string) => string
  /** As `CreateWorktree.onPlanned`. */
  readonly onPlanned?: CreateWorktree['onPlanned']
}

/**
 * Creates the worktree of a start. It shows all of a repository, so the caller must be allowed to use the repository's whole folder.
 * @throws `not_supported`, `repository_invalid`, `branch_invalid`, `git_unavailable`, `git_failed`; as `rootsOf`
 */
export async function newWorktree(
  asked: WorktreeRequest,
  { worktrees, asker, roots, newId, onPlanned }: WorktreeStart,
): Promise<NewWorktree> {
  if (worktrees === undefined)
    throw new AgentprotoError('not_supported', 'The gateway has no worktrees', { hint: 'Start without a worktree' })
  const { git } = worktrees
  const [folder, ...others] = roots.folders
  const { folder: repository, commonDir } = await git.find(folder)
  await rootsOf({ cwd: repository }, asker)
  await assertWithin(commonDir, repository, asker)
  const { branch = newId('agentproto/').slice(0, 20) } = asked
  const at = await placeOf(worktrees.root, { repository, branch })
  const worktree = await git.create({ repository: folder, at, branch, ...defined({ base: asked.base, onPlanned }) })
  try {
    const { gitDir } = await git.find(worktree.path)
    const cwd = await sameFolder(worktree.path, relative(repository, folder))
    return {
      worktree: { ...worktree, folder, commonDir, gitDir },
      roots: { place: { ...roots.place, cwd }, folders: [cwd, ...others] },
    }
  } catch (thrown) {
    await git.discard(worktree)
    throw thrown
  }
}

/** Deletes a worktree; without `force` only if nothing would be lost. @returns why it was kept */
export async function removeWorktree(
  worktrees: SessionWorktrees | undefined,
  worktree: StoredWorktree,
  { force = false }: { readonly force?: boolean } = {},
): Promise<string | undefined> {
  try {
    await worktrees?.git.discard(worktree, { force })
    return undefined
  } catch (thrown) {
    return `The worktree ${worktree.path} is kept: ${messageOf(thrown)}`
  }
}

/** Removes what a gateway that was killed has created of a worktree, which nothing has run in. @returns why it was kept */
export async function removePlanned(
  worktrees: SessionWorktrees | undefined,
  planned: Worktree,
): Promise<string | undefined> {
  if (worktrees === undefined) return undefined
  try {
    await assertOwn(planned, worktrees)
    await worktrees.git.discard(planned, { force: true }).catch(async () => {
      // Its folder was there before git knew of it.
      await rm(planned.path, { recursive: true, force: true })
      await worktrees.git.discard(planned, { force: true })
    })
    return undefined
  } catch (thrown) {
    return `The worktree ${planned.path} is kept: ${messageOf(thrown)}`
  }
}

/** In a copy of a home the record names the worktree of the other one, which may be in use there. */
async function assertOwn({ path }: Worktree, { root }: SessionWorktrees): Promise<void> {
  const own = (await realPath(root)) ?? root
  const isOwn = (each: string): boolean => each !== own && isInside(each, [own])
  if (isOwn(path) && isOwn((await realPath(path)) ?? own)) return
  throw new AgentprotoError('path_invalid', 'It is not in the folder of worktrees', {
    expected: `a folder below ${own}`,
  })
}

/** What the record of the session shows. */
export const shownWorktree = ({ path, branch, base, repository, folder }: StoredWorktree): SessionWorktree => ({
  path,
  branch,
  base,
  repository,
  folder,
})

/** The record of a session that starts in a worktree. */
export function inWorktree<T extends { readonly session: Session; readonly spawn: StoredSpawn }>(
  planned: T,
  { worktree, roots }: NewWorktree,
): T {
  const { session, spawn } = planned
  return {
    ...planned,
    session: { ...session, cwd: roots.place.cwd, worktree: shownWorktree(worktree) },
    spawn: { ...spawn, roots: roots.folders, worktree, ownsWorktree: true },
  }
}

/** A `.git` file may name a repository that lies elsewhere: only the owner may use it then. */
async function assertWithin(commonDir: string, repository: string, { by }: { readonly by: Principal }): Promise<void> {
  if (by.type === 'owner' || isInside(commonDir, [repository])) return
  throw new AgentprotoError('repository_invalid', 'The repository is not in the folder', { given: commonDir })
}

/** One folder for each repository and branch: names of branches have slashes, which a folder has not. */
async function placeOf(
  root: string,
  { repository, branch }: { readonly repository: string; readonly branch: string },
): Promise<string> {
  const place = join(root, `${nameOf(basename(repository))}-${digest(repository)}`)
  await mkdir(place, { recursive: true, mode: 0o700 })
  const name = nameOf(branch)
  return join(await realpath(place), name === branch ? name : `${name}-${digest(branch)}`)
}

const nameOf = (text: string): string =>
  text
    .replaceAll(/[^\w.-]+/g, '-')
    .replaceAll(/^[.-]+/g, '')
    .slice(0, 80) || 'x'
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)

/** The same folder of the worktree, where its commit has it; a link in it leads nowhere else. */
async function sameFolder(path: string, step: string): Promise<string> {
  const real = await realpath(join(path, step)).catch(() => path)
  return isInside(real, [path]) && (await stat(real)).isDirectory() ? real : path
}
