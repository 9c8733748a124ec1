import { mkdir, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AgentprotoError, type Clock, parseJson } from '@agentproto/contracts'
import type * as z from 'zod'

export interface JsonFileOptions<T> {
  readonly path: string
  /** What messages call the file, such as `workspaces file`. */
  readonly what: string
  readonly schema: z.ZodType<T>
  /** The content of a file that does not exist. */
  readonly empty: T
  readonly clock: Clock
  readonly onWarning: (message: string) => void
}

/** The content after a change, and what the caller gets. */
export type Changed<T, R> = readonly [T, R]

/** A JSON file that several processes share: changed under a lock, and replaced as a whole. */
export class JsonFile<T> {
  readonly #options: JsonFileOptions<T>
  // Changes of one process wait for each other here rather than for the lock, which retries by time.
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: JsonFileOptions<T>) {
    this.#options = options
  }

  /** The content; with `problem`, the empty content of a file that cannot be understood. @throws `storage_failed` */
  async read(): Promise<{ readonly content: T; readonly problem?: string }> {
    const { path, what, schema, empty } = this.#options
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (thrown) {
      if (codeOf(thrown) === 'ENOENT') return { content: empty }
      throw new AgentprotoError('storage_failed', `The ${what} cannot be read: ${path}.`, { cause: thrown })
    }
    const result = schema.safeParse(parseJson(text))
    if (result.success) return { content: result.data }
    const place = result.error.issues[0]?.path.join('.') ?? ''
    return { content: empty, problem: place === '' ? 'it has another format' : `${place} is not valid` }
  }

  /**
   * Reads, changes and writes the file under a lock; nothing is written when the content stays the same object.
   * A file that cannot be understood is moved aside, with a warning.
   * @throws `storage_failed`
   */
  change<R>(run: (before: T) => Changed<T, R> | Promise<Changed<T, R>>): Promise<R> {
    const { path, what } = this.#options
    const turn = this.#last.then(() =>
      withLock(path, what, async (isHeld) => {
        const before = await this.#readOrMoveAside()
        const [after, result] = await run(before)
        if (after === before) return result
        if (!isHeld())
          throw new AgentprotoError('storage_failed', `The lock on the ${what} was lost.`, { hint: 'Try again.' })
        await this.#write(after)
        return result
      }),
    )
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #readOrMoveAside(): Promise<T> {
    const { path, what, clock, onWarning } = this.#options
    // Read again under the lock: another process may have moved the file aside and written a good one.
    const { content, problem } = await this.read()
    if (problem === undefined) return content
    const aside = `${path}.unreadable-${new Date(clock.now()).toISOString().replace(/[:.]/g, '-')}`
    await rename(path, aside)
    onWarning(`The ${what} could not be read: ${problem}. It was moved to ${aside}, and a new one is started.`)
    return content
  }

  async #write(content: T): Promise<void> {
    const { path, what } = this.#options
    // Loaded on the first write: most processes only read.
    const { default: writeFileAtomic } = await import('write-file-atomic')
    try {
      await writeFileAtomic(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
    } catch (thrown) {
      throw new AgentprotoError('storage_failed', `The ${what} cannot be written: ${path}.`, { cause: thrown })
    }
  }
}

/** Runs with the file locked against every other process. @throws `storage_failed` */
async function withLock<T>(path: string, what: string, run: (isHeld: () => boolean) => Promise<T>): Promise<T> {
  const { lock } = await import('proper-lockfile')
  let held = true
  let release: () => Promise<void>
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    release = await lock(path, {
      // The file need not exist yet.
      realpath: false,
      // About ten seconds in all. The lock of a process that died is taken over after five.
      retries: { retries: 150, factor: 1.2, minTimeout: 5, maxTimeout: 100, randomize: true },
      stale: 5_000,
      onCompromised: () => (held = false),
    })
  } catch (thrown) {
    throw new AgentprotoError('storage_failed', `The ${what} cannot be locked: ${path}.`, {
      hint: `Try again. If no agentproto is running, remove ${path}.lock.`,
      cause: thrown,
    })
  }
  try {
    return await run(() => held)
  } finally {
    // A lock that was taken over is no longer ours to release.
    if (held) await release().catch(() => undefined)
  }
}

export const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
