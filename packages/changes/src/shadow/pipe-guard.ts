import { setMaxListeners } from 'node:events'
import { lstat, readdir } from 'node:fs/promises'
import type { Clock, Timer } from '@agentproto/contracts'
import { fsPath, pathText } from '../git/path-text.js'
import { Skipped } from '../git-errors.js'
import { inSlices } from '../slice.js'
import type { FolderRoot } from './folder-root.js'

/** What git opens in each folder that it enters. For the other end of a pipe it would wait as long as it may. */
const OPENED_BY_GIT: readonly string[] = ['.gitignore', '.gitattributes']
/** When a git that has not ended could be waiting for a pipe, in milliseconds. */
const SLOW_MS = 1_000
/** How many folders are left out before the whole is skipped. */
const FOLDERS_MAX = 20

export interface GuardedFolder {
  /** Real path. */
  readonly folder: string
  readonly root: FolderRoot
  readonly signal: AbortSignal
}

/** Runs git where it must not wait for a pipe. A folder in which it would is left out, until the pipe is gone. */
export class PipeGuard {
  readonly #clock: Clock
  /** Real paths of folders with such a pipe. */
  readonly #folders = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The folders to leave out, relative to a work tree around them, with `/` at their ends. */
  below(workTree: string): ReadonlySet<string> {
    return new Set([...this.#folders].map((folder) => `${folder.slice(workTree.length + 1)}/`))
  }

  /**
   * Runs, and once more each time a pipe is found for which git may be waiting. One can appear at any time: it is looked for
   * while git runs, and not only before.
   * @throws {@link Skipped} where the folder itself has one, or too many folders
   */
  async run<T>(guarded: GuardedFolder, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (const folder of this.#folders) if ((await pipeIn(folder)) === undefined) this.#folders.delete(folder)
    for (;;) {
      await this.#refuse(guarded)
      const attempt = new Attempt({ clock: this.#clock, known: this.#folders, ...guarded })
      try {
        return await work(attempt.signal)
      } catch (thrown) {
        if (!attempt.isBlocked || guarded.signal.aborted) throw thrown
        this.#add(attempt.found)
      } finally {
        attempt.end()
      }
    }
  }

  async #refuse(guarded: GuardedFolder): Promise<void> {
    const pipe = await pipeOnTheWay(guarded)
    if (pipe !== undefined) throw new Skipped('git_failed', `${pipe} is a pipe: git would wait for its other end.`)
    const [first] = this.#folders
    if (this.#folders.size > FOLDERS_MAX)
      throw new Skipped('git_failed', `Too many folders have an ignore file that is a pipe, such as ${first}.`)
  }

  #add(folders: readonly string[]): void {
    for (const folder of folders) this.#folders.add(folder)
  }
}

interface AttemptOptions extends GuardedFolder {
  readonly clock: Clock
  readonly known: ReadonlySet<string>
}

/** One run of git, which ends when a pipe is found that was not known. */
class Attempt {
  /** Whether a pipe was found for which git may be waiting. */
  isBlocked = false
  /** The folders that have one; none for the folder itself. */
  readonly found: string[] = []
  readonly #options: AttemptOptions
  readonly #controller = new AbortController()
  readonly #abort = (): void => this.#controller.abort(this.#options.signal.reason)
  #timer: Timer | undefined
  #hasEnded = false

  constructor(options: AttemptOptions) {
    this.#options = options
    setMaxListeners(0, this.#controller.signal)
    if (options.signal.aborted) this.#abort()
    else options.signal.addEventListener('abort', this.#abort, { once: true })
    this.#lookLater()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(): void {
    this.#hasEnded = true
    this.#timer?.cancel()
    this.#options.signal.removeEventListener('abort', this.#abort)
  }

  #lookLater(): void {
    if (!this.#hasEnded) this.#timer = this.#options.clock.after(SLOW_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { folder, known } = this.#options
    for await (const each of foldersWithPipes(folder, known))
      if (this.#hasEnded || this.found.push(each) > FOLDERS_MAX) break
    const itself = await pipeOnTheWay(this.#options)
    if (this.#hasEnded) return
    if (this.found.length === 0 && itself === undefined) return this.#lookLater()
    this.isBlocked = true
    this.#controller.abort(new Skipped('git_failed', `git may be waiting for a pipe in ${this.found[0] ?? folder}.`))
  }
}

/** A pipe in the folder itself, or in one between the work tree and it. */
async function pipeOnTheWay({ root: { workTree, prefix } }: GuardedFolder): Promise<string | undefined> {
  let at = workTree
  for (const part of ['', ...prefix.split('/').slice(0, -1)]) {
    if (part !== '') at = `${at}/${part}`
    const pipe = await pipeIn(at)
    if (pipe !== undefined) return pipe
  }
  return undefined
}

async function pipeIn(folder: string): Promise<string | undefined> {
  for (const name of OPENED_BY_GIT) {
    const path = `${folder}/${name}`
    const stats = await lstat(fsPath(path)).catch(() => undefined)
    if (stats?.isFIFO() === true) return path
  }
  return undefined
}

/** The folders below one that have such a pipe; not what is in them, in other repositories, or behind a link. */
async function* foldersWithPipes(top: string, known: ReadonlySet<string>): AsyncGenerator<string> {
  const waiting = [top]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { hasPipe, isRepository, folders } = await contentOf(at)
    if (at !== top && hasPipe) yield at
    else if (at === top || !isRepository) await inSlices(folders, (path) => known.has(path) || waiting.push(path))
  }
}

async function contentOf(folder: string) {
  const entries = await readdir(fsPath(folder), { withFileTypes: true, encoding: 'buffer' }).catch(() => [])
  const folders: string[] = []
  let hasPipe = false
  let isRepository = false
  await inSlices(entries, (entry) => {
    const name = pathText(entry.name)
    if (name === '.git') isRepository = true
    else if (entry.isDirectory()) folders.push(`${folder}/${name}`)
    else if (entry.isFIFO() && OPENED_BY_GIT.includes(name)) hasPipe = true
  })
  return { hasPipe, isRepository, folders }
}
