import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { readSmallFile } from '../git/repository-files.js'

// An agent can write the `.git` of its folder, and git follows what it says with the rights of the gateway. What leads out of
// the repository is therefore refused: it would let a worktree have the files of another repository, or a reflog be appended
// to any file of the user.

interface GitDirs {
  readonly gitDir: string
  readonly commonDir: string
}

/** @throws `repository_invalid` where a folder names a git-dir that does not name the folder */
export async function checkOwner(folder: string, { gitDir, commonDir }: GitDirs): Promise<void> {
  const isBare = gitDir === folder
  const isPlain = (isBare || gitDir === join(folder, '.git')) && commonDir === gitDir
  const isOwn = isPlain || (await isLinkedWorktree(folder, { gitDir, commonDir }))
  if (isOwn || (await isWorktreeOf(folder, { gitDir, commonDir }))) return
  throw new AgentprotoError('repository_invalid', 'The folder names a repository that does not belong to it.', {
    given: folder,
    expected: 'a .git that is a folder, or the file of a linked worktree or submodule that its repository knows',
    hint: 'After a worktree was moved, `git worktree repair` lets both know each other again.',
  })
}

/** @throws `repository_invalid` where git would follow a link, or wait for a pipe */
export async function checkOwnFiles({ gitDir, commonDir }: GitDirs): Promise<void> {
  for (const folder of new Set([gitDir, commonDir])) await checkFolder(folder, (name) => !NOT_FOLLOWED.has(name))
  await checkFolder(join(commonDir, 'objects'), () => true)
  for (const name of ['refs', 'logs', 'worktrees']) await checkAll(join(commonDir, name))
}

/** Not read or written by what is called here. Others keep their hooks as a link. */
const NOT_FOLLOWED: ReadonlySet<string> = new Set(['hooks', 'modules', 'lfs', 'annex'])

/** `git worktree add` lets both name each other. */
async function isLinkedWorktree(folder: string, { gitDir, commonDir }: GitDirs): Promise<boolean> {
  if (basename(dirname(gitDir)) !== 'worktrees') return false
  const [above, common] = await Promise.all([dirname(dirname(gitDir)), commonDir].map(realOf))
  const named = (await readSmallFile(join(gitDir, 'gitdir')))?.toString('utf8').trim()
  return (
    above === common &&
    named !== undefined &&
    (await realOf(resolve(gitDir, named))) === (await realOf(join(folder, '.git')))
  )
}

/** A submodule: its git-dir names its folder. */
async function isWorktreeOf(folder: string, { gitDir, commonDir }: GitDirs): Promise<boolean> {
  if (gitDir !== commonDir) return false
  const config = (await readSmallFile(join(gitDir, 'config')))?.toString('utf8') ?? ''
  const named = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(config)?.[1]
  return named !== undefined && (await realOf(resolve(gitDir, named))) === (await realOf(folder))
}

const realOf = (path: string): Promise<string> => realpath(path).catch(() => path)

async function checkFolder(folder: string, isChecked: (name: string) => boolean): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (isChecked(entry.name) && (entry.isSymbolicLink() || entry.isFIFO())) throw leadsOut(join(folder, entry.name))
}

/** With all folders below, without those of submodules. */
async function checkAll(folder: string): Promise<void> {
  await checkFolder(folder, () => true)
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (entry.isDirectory() && entry.name !== 'modules') await checkAll(join(folder, entry.name))
}

const leadsOut = (given: string): AgentprotoError =>
  new AgentprotoError('repository_invalid', 'A file of the repository is a link or a pipe.', {
    given,
    expected: 'files and folders',
  })
