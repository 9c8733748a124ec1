import { createHash } from 'node:crypto'
import { readdir, realpath, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@agentproto/contracts'
import type { ChangeLimits } from '../limits.js'
import { Git, type GitCall, GitFailure } from '../git/git.js'
import { type FoundGit, gitEnvironment, type GitProgram, isAtLeast, SAFE_CONFIG } from '../git/git-program.js'
import { pathspec } from '../git/path-text.js'
import { allRecords, nulEnded } from '../git/records.js'
import { Skipped } from '../git-errors.js'
import type { StoredCheckpoint } from './checkpoint-refs.js'
import { correctEntries } from './contained-entries.js'
import { findRoot, type FolderRoot, withoutParents } from './folder-root.js'
import { FolderWatch } from './folder-watch.js'
import { LeftOutSet } from './left-out-set.js'
import { PipeGuard } from './pipe-guard.js'
import { type Scan, scanFolder } from './scan.js'
import { createShadow, gitDirOf, removeLeftovers, setExcludes } from './shadow-files.js'

export interface ShadowOptions {
  /** Real path. */
  readonly folder: string
  readonly home: string
  /** `checkpoints/<digest>` of the home. */
  readonly shadow: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly limits: ChangeLimits
  readonly clock: Clock
  readonly findGit: (signal: AbortSignal) => Promise<FoundGit>
}

/** A recorded tree of files, relative to the folder. */
export interface Snapshot {
  readonly tree: string
  readonly leftOut: LeftOutSet
}

/** The state that a checkpoint recorded. */
export const snapshotOf = ({ checkpoint, leftOut }: StoredCheckpoint): Snapshot => ({ tree: checkpoint.id, leftOut })

/** From so many files on, new content goes into one pack: faster, and a third of the space. */
const PACK_FROM = 200
/** Since this version, `update-index` writes one pack per run and not one per file. */
const ONE_PACK = { major: 2, minor: 38 }

/** The shadow repository of one folder. Its calls must not run at once, except {@link ShadowRepository.git}. */
export class ShadowRepository {
  readonly #options: ShadowOptions
  /** Folders with too much, until the next start of the host. */
  readonly #largeFolders = new Set<string>()
  readonly #pipes: PipeGuard
  /** Whether the last git that wrote has ended well. */
  #isClean = false
  #last: { readonly index: string; readonly tree: string } | undefined

  constructor(options: ShadowOptions) {
    this.#options = options
    this.#pipes = new PipeGuard(options.clock)
  }

  /** Whether anything was ever recorded. */
  async exists(): Promise<boolean> {
    return stat(gitDirOf(this.#options.shadow)).then(
      () => true,
      () => false,
    )
  }

  /** git on the shadow repository, which never sees the folder. @throws {@link Skipped} */
  async git(signal: AbortSignal): Promise<Git> {
    return this.#gitOf(await this.#program(signal))
  }

  /** Records the files as they are now, as objects that no checkpoint refers to yet. @throws {@link Skipped} and others */
  async snapshot(signal: AbortSignal): Promise<Snapshot> {
    const program = await this.#program(signal)
    const { folder, home, shadow } = this.#options
    const found = await findRoot(folder, home)
    await createShadow({ shadow, folder })
    return this.#pipes.run({ folder, root: found, signal }, (limited) => this.#snapshot(program, found, limited))
  }

  async #snapshot(program: GitProgram, found: FolderRoot, signal: AbortSignal): Promise<Snapshot> {
    const { shadow } = this.#options
    await setExcludes(shadow, found.excludes)
    const root = await this.#unlessIgnored(program, found, signal)
    const blocked = this.#pipes.below(root.workTree)
    const state = new FolderState({ ...this.#options, git: this.#gitOf(program), program, root, blocked, signal })
    if (!this.#isClean) await removeLeftovers(shadow)
    // No other git writes to it: the lock is one of a git that was killed.
    await rm(`${state.index}.lock`, { force: true })
    this.#isClean = false
    await state.forgetUnchecked()
    const scan = await state.scan(this.#largeFolders)
    const tree = await this.#record(state, scan)
    this.#isClean = true
    return { tree, leftOut: new LeftOutSet(scan.leftOut) }
  }

  /**
   * Which of these paths, relative to the folder, the ignore files of another folder cover.
   * @param rules a folder with the `.gitignore` files in their places
   */
  async ignored(rules: string, paths: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const git = await this.git(signal)
    const env = { GIT_WORK_TREE: rules }
    const args = ['check-ignore', '-z', '--stdin', '--no-index']
    const { stdout } = await git.run({ args, env, signal, accept: [0, 1], input: nulEnded(paths) })
    return new Set(allRecords(stdout))
  }

  /** Forgets how the folder was last seen: for one that is not recorded again. */
  async forgetIndex(): Promise<void> {
    if (this.#last !== undefined) await rm(this.#last.index, { force: true })
    this.#last = undefined
  }

  /** Deletes what no checkpoint needs. */
  async collectGarbage(signal: AbortSignal): Promise<void> {
    const git = await this.git(signal)
    const index = await this.#onlyIndex()
    const env = index === undefined ? {} : { GIT_INDEX_FILE: index }
    await git.run({ args: ['repack', '-a', '-d', '-q'], env, signal })
    await git.run({ args: ['prune', '--expire=now'], env, signal })
    await git.run({ args: ['pack-refs', '--all', '--prune'], env, signal })
  }

  /** Forgets everything. */
  async delete(): Promise<void> {
    this.#last = undefined
    await rm(this.#options.shadow, { recursive: true, force: true, maxRetries: 3 })
  }

  async #program(signal: AbortSignal): Promise<GitProgram> {
    const found = await this.#options.findGit(signal)
    if (found.kind === 'missing') throw new Skipped(found.reason, found.detail)
    return found.program
  }

  #gitOf({ file }: GitProgram): Git {
    const { shadow, env, clock } = this.#options
    const gitDir = gitDirOf(shadow)
    return new Git({ file, cwd: shadow, env: { ...gitEnvironment(env), GIT_DIR: gitDir }, config: SAFE_CONFIG, clock })
  }

  /** A folder that the repository around it ignores as a whole would otherwise have no files. */
  async #unlessIgnored(program: GitProgram, root: FolderRoot, signal: AbortSignal): Promise<FolderRoot> {
    if (root.prefix === '') return root
    const call = { args: ['check-ignore', '-q', '--no-index', '--', root.prefix.slice(0, -1)], accept: [0, 1] }
    const env = { GIT_WORK_TREE: root.workTree }
    const { exitCode } = await this.#gitOf(program).run({ ...call, env, signal })
    if (exitCode === 1) return root
    const { folder, home, shadow } = this.#options
    await setExcludes(shadow, Buffer.alloc(0))
    return withoutParents(folder, home)
  }

  async #record(state: FolderState, scan: Scan): Promise<string> {
    const isSame = scan.present.length === 0 && scan.absent.length === 0
    if (isSame && this.#last?.index === state.index) return this.#last.tree
    this.#last = undefined
    await this.#assertRoom(scan)
    const tree = await this.#written(state, scan)
    this.#last = { index: state.index, tree }
    return tree
  }

  async #assertRoom({ bytes }: Scan): Promise<void> {
    const { shadow, limits } = this.#options
    const { blocks, bavail, bsize } = await statfs(shadow)
    // Some file systems do not say.
    if (blocks === 0 || bavail * bsize - bytes >= limits.freeBytes) return
    throw new Skipped('disk_full', `A checkpoint leaves at least ${limits.freeBytes} bytes free in ${shadow}.`)
  }

  /** An index that refers to objects that are lost, as after a power failure, is started again. */
  async #written(state: FolderState, scan: Scan): Promise<string> {
    try {
      return await state.write(scan)
    } catch (thrown) {
      if (!(thrown instanceof GitFailure) || !LOST.test(thrown.stderr)) throw thrown
      await rm(state.index, { force: true })
      return state.write(await state.scan(this.#largeFolders))
    }
  }

  async #onlyIndex(): Promise<string | undefined> {
    const gitDir = gitDirOf(this.#options.shadow)
    const names = (await readdir(gitDir)).filter((name) => /^index-[0-9a-f]+$/.test(name))
    const [first, ...others] = names
    if (first !== undefined && others.length === 0) return join(gitDir, first)
    // The folder became part of another repository, or ceased to be: which index counts is not known here.
    for (const name of names) await rm(join(gitDir, name), { force: true })
    this.#last = undefined
    return undefined
  }
}

/** What git says of an index whose objects are missing, or that is damaged. */
const LOST = /invalid object|Error building trees|index file corrupt|bad signature|bad index|index file smaller/

interface FolderStateOptions extends ShadowOptions {
  readonly git: Git
  readonly program: GitProgram
  readonly root: FolderRoot
  readonly blocked: ReadonlySet<string>
  readonly signal: AbortSignal
}

/** The folder and its index during one snapshot. */
class FolderState {
  readonly index: string
  readonly #options: FolderStateOptions
  readonly #env: Readonly<Record<string, string>>

  constructor(options: FolderStateOptions) {
    this.#options = options
    const { workTree, prefix } = options.root
    const digest = createHash('sha256').update(`${workTree}\0${prefix}`).digest('hex').slice(0, 16)
    this.index = join(gitDirOf(options.shadow), `index-${digest}`)
    this.#env = { GIT_WORK_TREE: workTree, GIT_INDEX_FILE: this.index }
  }

  async scan(largeFolders: Set<string>): Promise<Scan> {
    const { git, root, blocked, limits, signal } = this.#options
    const request = { git, root, blocked, limits, signal, env: this.#env, index: this.index, largeFolders }
    try {
      return await scanFolder(request)
    } catch (thrown) {
      if (!(thrown instanceof GitFailure) || !LOST.test(thrown.stderr)) throw thrown
      await rm(this.index, { force: true })
      return scanFolder(request)
    }
  }

  /** @returns the tree */
  async write({ present, absent }: Scan): Promise<string> {
    if (absent.length > 0) await this.#update(['--force-remove'], absent)
    if (present.length > 0) await this.#add(present)
    return this.#tree()
  }

  /** git opens files by their paths: what could have been read through a link is read again without. */
  async #add(present: readonly string[]): Promise<void> {
    const { clock, git, limits, root } = this.#options
    const { workTree } = root
    const watch = await FolderWatch.begin({ workTree, paths: present, now: clock.now() })
    await writeFile(this.#unchecked, '', { mode: 0o600 })
    await this.#update(['--add', '--remove', '--replace'], present)
    const paths = await watch.suspects()
    if ((await realpath(workTree).catch(() => '')) !== workTree)
      throw new Skipped('folder_missing', `${workTree} was replaced while it was read.`)
    const call = (args: readonly string[], input?: Iterable<Buffer>): GitCall => this.#call(args, input)
    if (paths.length > 0) await correctEntries({ git, call, workTree, paths, fileBytes: limits.fileBytes })
    await rm(this.#unchecked, { force: true })
  }

  /** Starts the index again where a snapshot ended, or the process, before what git read was checked. */
  async forgetUnchecked(): Promise<void> {
    const isUnchecked = await stat(this.#unchecked).then(
      () => true,
      () => false,
    )
    if (!isUnchecked) return
    await rm(this.index, { force: true })
    await rm(this.#unchecked, { force: true })
  }

  get #unchecked(): string {
    return `${this.index}.unchecked`
  }

  async #update(how: readonly string[], paths: readonly string[]): Promise<void> {
    const { program, git } = this.#options
    const isLarge = paths.length >= PACK_FROM && isAtLeast(program, ONE_PACK)
    // A file over this size is streamed into a pack, which also holds for small ones.
    const pack = isLarge ? ['-c', 'core.bigFileThreshold=1'] : []
    await git.run(this.#call([...pack, 'update-index', '-z', ...how, '--stdin'], nulEnded(paths)))
  }

  async #tree(): Promise<string> {
    const { git, root } = this.#options
    if (root.prefix === '') return git.text(this.#call(['write-tree']))
    if (await isEmpty(git.stream(this.#call(['ls-files', '-z', '--', pathspec(root.prefix)])))) return EMPTY_TREE
    return git.text(this.#call(['write-tree', `--prefix=${root.prefix}`]))
  }

  #call(args: readonly string[], input?: Iterable<Buffer>): GitCall {
    return { args, env: this.#env, signal: this.#options.signal, ...(input === undefined ? {} : { input }) }
  }
}

async function isEmpty(output: AsyncIterable<Buffer>): Promise<boolean> {
  for await (const _ of output) return false
  return true
}

/** git has it without its being written. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
