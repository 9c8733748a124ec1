import { createHash } from 'node:crypto'
import { readdir, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Clock, systemClock } from '@agentproto/contracts'
import {
  type ChangeStore,
  type FolderChanges,
  homeLayout,
  type PruneRequest,
  type PruneResult,
  type StoreSize,
} from '@agentproto/contracts/agent'
import { codeOf } from './git-errors.js'
import { type FoundGit, findGit } from './git/git-program.js'
import { folderBytes } from './folder-bytes.js'
import { GitFolderChanges } from './folder-changes.js'
import { type ChangeLimits, DEFAULT_LIMITS } from './limits.js'
import { readFolderOf } from './shadow/shadow-files.js'

export interface ChangeStoreOptions {
  /** The home of agentproto. */
  readonly home: string
  /** Absolute path of git; absent to look in the PATH of `env`. */
  readonly git?: string
  /** Absent for the environment of this process. git gets only its PATH and temporary folder. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly limits?: Partial<ChangeLimits>
  readonly clock?: Clock
}

/** Checkpoints in shadow repositories of a home: `checkpoints/<digest of the folder>`. The folder's own git is never changed. */
export function createChangeStore(options: ChangeStoreOptions): ChangeStore {
  return new GitChangeStore(options)
}

class GitChangeStore implements ChangeStore {
  readonly #options: ChangeStoreOptions
  readonly #clock: Clock
  /** One for each folder that was opened: all calls of a folder wait in one queue. */
  readonly #folders = new Map<string, GitFolderChanges>()
  #git: FoundGit | undefined

  constructor(options: ChangeStoreOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async open(folder: string): Promise<FolderChanges> {
    return this.#folder(await realpath(folder).catch(() => resolve(folder)))
  }

  async prune(request: PruneRequest): Promise<PruneResult> {
    let checkpoints = 0
    let bytes = 0
    const problems: string[] = []
    for (const shadow of await this.#shadows()) {
      try {
        const folder = await readFolderOf(shadow)
        const pruned = await this.#folder(folder).prune(request)
        checkpoints += pruned.checkpoints
        bytes += pruned.bytes
      } catch (thrown) {
        request.signal?.throwIfAborted()
        problems.push(`${shadow}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
      }
    }
    return { checkpoints, bytes, problems }
  }

  async size(): Promise<StoreSize> {
    const shadows = await this.#shadows()
    let bytes = 0
    for (const shadow of shadows) bytes += await folderBytes(shadow)
    return { bytes, folders: shadows.length }
  }

  #folder(real: string): GitFolderChanges {
    const key = createHash('sha256').update(real).digest('hex').slice(0, 32)
    const known = this.#folders.get(key)
    if (known !== undefined) return known
    const opened = new GitFolderChanges({
      folder: real,
      home: this.#options.home,
      shadow: join(homeLayout(this.#options.home).checkpoints, key),
      env: this.#options.env ?? process.env,
      limits: { ...DEFAULT_LIMITS, ...this.#options.limits },
      clock: this.#clock,
      findGit: (signal) => this.#findGit(signal),
    })
    this.#folders.set(key, opened)
    return opened
  }

  /** Asked again while there is none: it may be installed meanwhile. */
  async #findGit(signal: AbortSignal): Promise<FoundGit> {
    const { git, env = process.env } = this.#options
    if (this.#git?.kind !== 'found') this.#git = await findGit({ git, env, clock: this.#clock }, signal)
    return this.#git
  }

  async #shadows(): Promise<readonly string[]> {
    const folder = homeLayout(this.#options.home).checkpoints
    const names = await readdir(folder).catch((thrown: unknown) => {
      if (codeOf(thrown) === 'ENOENT') return []
      throw thrown
    })
    return names.map((name) => join(folder, name))
  }
}
