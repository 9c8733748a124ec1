import { constants } from 'node:fs'
import { copyFile, lstat, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { GitFailure } from '../git/git.js'
import { fsPath, pathBytes } from '../git/path-text.js'
import { allRecords } from '../git/records.js'
import { commonDirOf, gitDirAt, isFile, isFolder } from '../git/repository-files.js'
import type { Repository } from './repository.js'

/** The files of one worktree, main or linked, with its index. */
export class Checkout {
  readonly folder: string
  readonly #repository: Repository
  readonly #gitDir: string

  private constructor(repository: Repository, folder: string, gitDir: string) {
    this.#repository = repository
    this.folder = folder
    this.#gitDir = gitDir
  }

  /** @throws `repository_invalid` where the folder belongs to another repository */
  static async open(repository: Repository, folder: string): Promise<Checkout> {
    const gitDir = await gitDirAt(folder)
    if ((await commonDirOf(gitDir)) === repository.commonDir) return new Checkout(repository, folder, gitDir)
    throw new AgentprotoError('repository_invalid', 'The worktree does not belong to its repository any more.', {
      given: folder,
      expected: `a worktree of ${repository.folder}`,
    })
  }

  /** Writes the files of a commit to an empty worktree. */
  async fill(commit: string): Promise<void> {
    await this.#git(['read-tree', '--reset', '-u', commit])
  }

  /** The branch that is checked out, and the commit. */
  async head(): Promise<{ readonly branch?: string; readonly commit?: string }> {
    const call = { env: { GIT_DIR: this.#gitDir }, accept: [0, 1] }
    const ref = await this.#repository.refs(['symbolic-ref', '-q', 'HEAD'], call)
    const commit = await this.#repository.refs(['rev-parse', '-q', '--verify', 'HEAD^{commit}'], call)
    return {
      ...(ref.startsWith('refs/heads/') ? { branch: ref.slice('refs/heads/'.length) } : {}),
      ...(commit === '' ? {} : { commit }),
    }
  }

  /** A merge, rebase or the like that is not finished. */
  async operation(): Promise<string | undefined> {
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const at = join(this.#gitDir, name)
      if ((await isFile(at)) || (await isFolder(at))) return operation
    }
    return undefined
  }

  /** Paths that differ from the commit, staged or not, and unknown ones. */
  async dirty(commit: string): Promise<readonly string[]> {
    const staged = await this.#list(['diff-index', '--cached', '-z', '--name-only', '--ignore-submodules=none', commit])
    const found = [...staged, ...(await this.#unstaged()), ...(await this.#unknown()), ...(await this.#submodules())]
    return [...new Set(found)].toSorted()
  }

  /** A tree of everything that is there, and a function that makes the index agree with it. */
  async stage(): Promise<{ readonly tree: string; readonly finish: () => Promise<void> }> {
    const temporary = join(this.#repository.temporary, 'index')
    await copyFile(join(this.#gitDir, 'index'), temporary)
    const paths = [...(await this.#unstaged()), ...(await this.#unknown())]
    const input = [pathBytes(paths.map((path) => `${path}\0`).join(''))]
    const env = { GIT_INDEX_FILE: temporary }
    await this.#git(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], { env, input })
    const tree = await this.#git(['write-tree'], { env })
    const finish = async (): Promise<void> => {
      // As git does it: fails where another git is writing the index.
      const lock = join(this.#gitDir, 'index.lock')
      await copyFile(temporary, lock, constants.COPYFILE_EXCL)
      await rename(lock, join(this.#gitDir, 'index'))
    }
    return { tree, finish }
  }

  /**
   * Moves the files and the index from one commit to another, keeping other local changes.
   * @throws `checkout_dirty` before anything was changed, where that is not possible
   */
  async move(from: string, to: string): Promise<void> {
    await this.#refuseOverwrites(from, to)
    await this.#git(['update-index', '-q', '--refresh'], { accept: [0, 1] })
    try {
      await this.#git(['read-tree', '-m', '-u', '--dry-run', from, to])
    } catch (thrown) {
      if (!(thrown instanceof GitFailure)) throw thrown
      const files = await this.#changedInBoth(from, to)
      throw this.#refused('has changes in the files that the merge changes', { files, cause: thrown })
    }
    await this.#git(['read-tree', '-m', '-u', from, to])
  }

  /** Files that differ here from the commit, and that the other commit changes too. */
  async #changedInBoth(from: string, to: string): Promise<readonly string[]> {
    const changed = new Set(await this.#list(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to]))
    const staged = await this.#list(['diff-index', '--cached', '-z', '--name-only', '--no-renames', from])
    const found = [...staged, ...(await this.#unstaged())].filter((path) => changed.has(path))
    return [...new Set(found)].toSorted()
  }

  async #refuseOverwrites(from: string, to: string): Promise<void> {
    const operation = await this.operation()
    if (operation !== undefined) throw this.#refused(`is in the middle of a ${operation}`, {})
    const changed = await this.#list(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to])
    const filtered = await this.#filtered(changed)
    if (filtered.length > 0) throw this.#refused('has files with a filter, which is not run', { files: filtered })
    const added = await this.#list([
      'diff-tree',
      '-r',
      '-z',
      '--name-only',
      '--no-renames',
      '--diff-filter=A',
      from,
      to,
    ])
    const existing: string[] = []
    for (const path of added)
      if ((await lstat(fsPath(`${this.folder}/${path}`)).catch(() => undefined)) !== undefined) existing.push(path)
    // git would overwrite those that are ignored.
    if (existing.length > 0) throw this.#refused('has unknown files that the merge adds', { files: existing })
  }

  /** A filter such as that of git-lfs is a program that the repository names. */
  async #filtered(paths: readonly string[]): Promise<readonly string[]> {
    const { attributes, signal } = this.#repository
    const input = [pathBytes(paths.map((path) => `${path}\0`).join(''))]
    const env = { GIT_WORK_TREE: this.folder }
    const { stdout } = await attributes.run({ args: ['check-attr', '-z', '--stdin', 'filter'], env, input, signal })
    const fields = allRecords(stdout)
    const found: string[] = []
    for (let at = 0; at + 2 < fields.length; at += 3)
      if (!['unspecified', 'unset'].includes(fields[at + 2] ?? '')) found.push(fields[at] ?? '')
    return found
  }

  #refused(what: string, { files = [], cause }: { readonly files?: readonly string[]; readonly cause?: unknown }) {
    return new AgentprotoError('checkout_dirty', `The checkout in ${this.folder} ${what}.`, {
      hint: 'Commit, stash or move them there, or check out another branch, and merge again.',
      data: { folder: this.folder, files: files.slice(0, 100) },
      cause,
    })
  }

  #unstaged(): Promise<readonly string[]> {
    return this.#list(['diff-files', '-z', '--name-only', '--no-renames', '--ignore-submodules=all'])
  }

  async #unknown(): Promise<readonly string[]> {
    const excludes = join(this.#repository.commonDir, 'info/exclude')
    const also = (await isFile(excludes)) ? [`--exclude-from=${excludes}`] : []
    return this.#list(['ls-files', '-z', '--others', '--exclude-standard', ...also])
  }

  /** Submodules that were filled: what is in them is not known here. */
  async #submodules(): Promise<readonly string[]> {
    const entries = await this.#list(['ls-files', '-z', '--stage'])
    const paths = entries
      .filter((entry) => entry.startsWith('160000 '))
      .map((entry) => entry.slice(entry.indexOf('\t') + 1))
    const filled: string[] = []
    for (const path of paths)
      if ((await readdir(fsPath(`${this.folder}/${path}`)).catch(() => [])).length > 0) filled.push(path)
    return filled
  }

  async #list(args: readonly string[]): Promise<readonly string[]> {
    const { objects, signal } = this.#repository
    const { stdout } = await objects.run({ args, env: this.#env, signal })
    return allRecords(stdout)
  }

  #git(args: readonly string[], call: { env?: Record<string, string>; input?: Buffer[]; accept?: number[] } = {}) {
    return this.#repository.text(args, { ...call, env: { ...this.#env, ...call.env } })
  }

  get #env(): Readonly<Record<string, string>> {
    return { GIT_WORK_TREE: this.folder, GIT_INDEX_FILE: join(this.#gitDir, 'index') }
  }
}

const OPERATIONS: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'merge',
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  BISECT_LOG: 'bisect',
}
