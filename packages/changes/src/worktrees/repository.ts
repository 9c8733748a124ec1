import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { AgentprotoError, type Clock } from '@agentproto/contracts'
import { Git, type GitCall } from '../git/git.js'
import { gitEnvironment, type GitProgram, isAtLeast, SAFE_CONFIG } from '../git/git-program.js'
import { allRecords } from '../git/records.js'
import { commonDirOf, gitDirAt, isBareRepository, isFolder, repositoryTop } from '../git/repository-files.js'
import { NO_CONVERSION } from '../shadow/shadow-files.js'
import { checkOwner, checkOwnFiles } from './own-files.js'

export interface RepositoryPlace {
  /** The folder above `.git`, or the git-dir itself. */
  readonly folder: string
  /** The git-dir of the folder that was given, which has its HEAD. */
  readonly gitDir: string
  /** The git-dir that all worktrees share. */
  readonly commonDir: string
}

export interface RepositoryOptions extends RepositoryPlace {
  readonly program: GitProgram
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Ends the call after it began to write: something that git waits for never comes. */
  readonly lateSignal: AbortSignal
}

/** A worktree that the repository lists. */
export interface ListedWorktree {
  readonly path: string
  readonly branch?: string
}

export interface NewWorktree {
  readonly at: string
  readonly branch: string
  readonly branchExists: boolean
  readonly commit: string
}

/** @throws `repository_invalid` */
export async function findRepository(folder: string): Promise<RepositoryPlace> {
  const real = await realpath(folder).catch(() => folder)
  const top = (await isBareRepository(real)) ? undefined : await repositoryTop(real)
  const gitDir = top === undefined ? real : await gitDirAt(top)
  const commonDir = await commonDirOf(gitDir)
  if (await isBareRepository(commonDir)) {
    await checkOwner(top ?? real, { gitDir, commonDir })
    await checkOwnFiles({ gitDir, commonDir })
    const owner = basename(commonDir) === '.git' ? dirname(commonDir) : commonDir
    return { folder: await realpath(owner), gitDir, commonDir: await realpath(commonDir) }
  }
  throw new AgentprotoError('repository_invalid', 'The folder is not in a git repository.', { given: folder })
}

/** A user's repository during one call. */
export class Repository {
  readonly folder: string
  readonly commonDir: string
  readonly program: GitProgram
  /** For objects, indexes and files: without the repository's configuration and attributes. */
  readonly objects: Git
  /** The same, where attributes are asked for and not applied. */
  readonly attributes: Git
  /** For references and the list of worktrees: with its configuration, without what that starts. */
  readonly #refs: Git
  readonly #options: RepositoryOptions
  readonly #neutral: string
  #isWriting = false

  private constructor(options: RepositoryOptions, neutral: string) {
    const { folder, commonDir, program, env, clock } = options
    this.folder = folder
    this.commonDir = commonDir
    this.program = program
    this.#options = options
    this.#neutral = neutral
    const own = { file: program.file, config: SAFE_CONFIG, clock }
    const base = gitEnvironment(env)
    const shared = {
      ...base,
      GIT_OBJECT_DIRECTORY: join(commonDir, 'objects'),
      GIT_SHALLOW_FILE: join(commonDir, 'shallow'),
    }
    this.#refs = new Git({ ...own, cwd: commonDir, env: { ...base, ...REFLOG_NAME, GIT_DIR: commonDir } })
    this.objects = new Git({ ...own, cwd: neutral, env: { ...shared, GIT_DIR: join(neutral, 'git') } })
    this.attributes = new Git({ ...own, cwd: neutral, env: { ...shared, GIT_DIR: join(neutral, 'attributes') } })
  }

  static async open(options: RepositoryOptions): Promise<Repository> {
    const neutral = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-git-')))
    const repository = new Repository(options, neutral)
    try {
      const format = await repository.refs(['rev-parse', '--show-object-format'])
      await createNeutral(join(neutral, 'git'), { format, attributes: NO_CONVERSION })
      await createNeutral(join(neutral, 'attributes'), { format, attributes: '' })
      return repository
    } catch (thrown) {
      await repository.close()
      throw thrown
    }
  }

  async close(): Promise<void> {
    await rm(this.#neutral, { recursive: true, force: true })
  }

  /** Ends the call; once it writes, only much later. */
  get signal(): AbortSignal {
    return this.#isWriting ? this.#options.lateSignal : this.#options.signal
  }

  /** From here on an abort has no effect, and the time limit is a longer one: a part of a change is worse than a late one. */
  beginWrites(): void {
    this.#options.signal.throwIfAborted()
    this.#isWriting = true
  }

  /** A folder for temporary files of this call. */
  get temporary(): string {
    return this.#neutral
  }

  /** A command on references. @throws `GitFailure` */
  refs(args: readonly string[], call: Partial<GitCall> = {}): Promise<string> {
    return this.#refs.text({ args, signal: this.signal, ...call })
  }

  /** A command on objects. @throws `GitFailure` */
  text(args: readonly string[], call: Partial<GitCall> = {}): Promise<string> {
    return this.objects.text({ args, signal: this.signal, ...call })
  }

  async isBranchName(branch: string): Promise<boolean> {
    if (branch.startsWith('-') || branch === 'HEAD' || branch === '@' || branch.includes('\0')) return false
    const call = { args: ['check-ref-format', refOf(branch)], accept: [0, 1], signal: this.signal }
    return (await this.#refs.run(call)).exitCode === 0
  }

  /** Values of the repository's configuration, by a pattern of their names. */
  async configured(pattern: string): Promise<readonly { readonly key: string; readonly value: string }[]> {
    const call = { args: ['config', '-z', '--get-regexp', pattern], accept: [0, 1], signal: this.signal }
    const { stdout } = await this.#refs.run(call)
    return allRecords(stdout).flatMap((record) => {
      const at = record.indexOf('\n')
      return at < 0 ? [] : [{ key: record.slice(0, at), value: record.slice(at + 1) }]
    })
  }

  branchCommit(branch: string): Promise<string | undefined> {
    return this.#verify(refOf(branch))
  }

  /** A branch first, then whatever else git understands. */
  async commitOf(name: string): Promise<string | undefined> {
    return (await this.branchCommit(name)) ?? this.#verify(name)
  }

  /** What the folder that was given has checked out. */
  async head(): Promise<{ readonly branch?: string; readonly commit?: string }> {
    const env = { GIT_DIR: this.#options.gitDir }
    const call = { env, accept: [0, 1], signal: this.signal }
    const ref = await this.#refs.text({ ...call, args: ['symbolic-ref', '-q', 'HEAD'] })
    const commit = await this.#refs.text({ ...call, args: ['rev-parse', '-q', '--verify', 'HEAD^{commit}'] })
    return {
      ...(ref.startsWith('refs/heads/') ? { branch: ref.slice('refs/heads/'.length) } : {}),
      ...(commit === '' ? {} : { commit }),
    }
  }

  async worktrees(): Promise<readonly ListedWorktree[]> {
    const isSplit = isAtLeast(this.program, { major: 2, minor: 36 })
    const args = ['worktree', 'list', '--porcelain', ...(isSplit ? ['-z'] : [])]
    const { stdout } = await this.#refs.run({ args, signal: this.signal })
    const lines = isSplit ? allRecords(stdout) : stdout.toString('utf8').split('\n')
    const found: { path: string; branch?: string }[] = []
    for (const line of lines) {
      if (line.startsWith('worktree ')) found.push({ path: line.slice('worktree '.length) })
      const last = found.at(-1)
      if (line.startsWith('branch refs/heads/') && last !== undefined)
        last.branch = line.slice('branch refs/heads/'.length)
    }
    return found
  }

  async addWorktree({ at, branch, branchExists, commit }: NewWorktree): Promise<void> {
    const what = branchExists ? [at, branch] : ['--no-track', '-b', branch, at, commit]
    await this.refs(['worktree', 'add', '--quiet', '--no-checkout', ...what])
  }

  /** Not with a check of git's own, which would start what the configuration names. */
  async removeWorktree(path: string): Promise<void> {
    const listed = (await this.worktrees()).find((each) => each.path === path)
    if (listed === undefined && !(await isFolder(path))) return
    if (listed === undefined)
      throw new AgentprotoError('repository_invalid', 'The repository does not know this worktree.', { given: path })
    await this.refs(['worktree', 'remove', '--force', '--force', '--', path])
  }

  /** Unless it is checked out somewhere. */
  async deleteBranch(branch: string): Promise<void> {
    const commit = await this.branchCommit(branch)
    const isUsed = (await this.worktrees()).some((each) => each.branch === branch)
    if (commit !== undefined && !isUsed) await this.refs(['update-ref', '-d', refOf(branch), commit])
  }

  /** Moves branches together, or none. @throws `GitFailure` where one is not at its old commit */
  async moveBranches(moves: readonly BranchMove[], reason: string): Promise<void> {
    const input = [
      Buffer.from(moves.map(({ branch, from, to }) => `update ${refOf(branch)}\0${to}\0${from}\0`).join('')),
    ]
    await this.refs(['update-ref', '-m', reason, '-z', '--stdin'], { input })
  }

  /** The user's name for commits: git's own answer, which starts nothing. */
  async identity(): Promise<Readonly<Record<string, string>>> {
    const { HOME, XDG_CONFIG_HOME, USERPROFILE } = this.#options.env
    const {
      GIT_CONFIG_GLOBAL: _global,
      GIT_CONFIG_SYSTEM: _system,
      GIT_CONFIG_NOSYSTEM: _none,
      ...base
    } = gitEnvironment(this.#options.env)
    const user = Object.entries({ HOME, XDG_CONFIG_HOME, USERPROFILE }).filter(([, value]) => value !== undefined)
    const env = { ...base, XDG_CONFIG_HOME: '', ...Object.fromEntries(user), GIT_DIR: this.commonDir }
    const git = new Git({ file: this.program.file, cwd: this.commonDir, env, config: [], clock: this.#options.clock })
    const ask = async (name: string): Promise<string> =>
      git.text({ args: ['config', '--get', name], accept: [0, 1], signal: this.signal })
    const name = (await ask('user.name')) || 'agentproto'
    const email = (await ask('user.email')) || 'agentproto@localhost'
    return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email }
  }

  async #verify(name: string): Promise<string | undefined> {
    if (name.startsWith('-')) return undefined
    const call = { accept: [0, 1, 128], signal: this.signal }
    const found = await this.#refs.text({ ...call, args: ['rev-parse', '-q', '--verify', `${name}^{commit}`] })
    return found === '' ? undefined : found
  }
}

export interface BranchMove {
  readonly branch: string
  readonly from: string
  readonly to: string
}

/** In reflogs. The repository's own name could be text that is harmful where a log is a link to another file. */
const REFLOG_NAME = { GIT_COMMITTER_NAME: 'agentproto', GIT_COMMITTER_EMAIL: 'agentproto@localhost' }

const refOf = (branch: string): string => `refs/heads/${branch}`

interface Neutral {
  readonly format: string
  readonly attributes: string
}

/** An empty git-dir with a configuration of ours. */
export async function createNeutral(gitDir: string, { format, attributes }: Neutral): Promise<void> {
  for (const name of ['objects', 'refs/heads', 'info']) await mkdir(join(gitDir, name), { recursive: true })
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n')
  await writeFile(join(gitDir, 'info/attributes'), attributes)
  const isUnix = process.platform !== 'win32'
  const extension = format === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${format}\n`
  await writeFile(
    join(gitDir, 'config'),
    `[core]\n\trepositoryFormatVersion = ${format === 'sha1' ? 0 : 1}\n\tbare = false\n\tfileMode = ${isUnix}\n\tsymlinks = ${isUnix}\n${extension}`,
  )
}
