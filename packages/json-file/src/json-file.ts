import { mkdir, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AgentprotoError, type Clock, parseJson, systemClock } from '@agentproto/contracts'
import type * as z from 'zod'

export interface JsonFileOptions<T> {
  readonly path: string
  /** What messages call the file, such as `workspaces file`. */
  readonly what: string
  readonly schema: z.ZodType<T>
  /** The content of a file that does not exist. */
  readonly empty: T
  readonly lock?: LockRules
  readonly clock?: Clock | undefined
  readonly onWarning?: ((message: string) => void) | undefined
}

export interface LockRules {
  /** After how many milliseconds the lock of a process that died is taken over. Default 5,000. */
  readonly staleMs?: number
  /** What is thrown when another process holds the lock. Without it, the lock is waited for, about ten seconds in all. */
  readonly busy?: () => AgentprotoError
  /** A change is written even if the lock was lost meanwhile. */
  readonly mayBeLost?: boolean
}

/** The content after a change, and what the caller gets. */
export type Changed<T, R> = readonly [T, R]

/** A JSON file that several processes share: changed under a lock, replaced as a whole, and for its owner alone. */
export class JsonFile<T> {
  readonly #options: JsonFileOptions<T>
  // Changes of one process wait for each other here rather than for the lock, which retries by time.
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: JsonFileOptions<T>) {
    this.#options = options
  }

  /** The content; with `problem`, the empty content of a file that cannot be understood. @throws `storage_failed` */
  async read(): Promise<{ readonly content: T; readonly problem?: string }> {
    const { path, schema, empty } = this.#options
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (thrown) {
      if (codeOf(thrown) === 'ENOENT') return { content: empty }
      throw this.#failed('read', { cause: thrown })
    }
    const result = schema.safeParse(parseJson(text))
    if (result.success) return { content: result.data }
    const place = result.error.issues[0]?.path.join('.') ?? ''
    return { content: empty, problem: place === '' ? 'it has another format' : `${place} is not valid` }
  }

  /** The content. A file that cannot be understood is moved aside, with a warning. @throws `storage_failed` */
  async readOrMoveAside(): Promise<T> {
    const { path, what, clock = systemClock, onWarning } = this.#options
    const { content, problem } = await this.read()
    if (problem === undefined) return content
    const aside = `${path}.unreadable-${new Date(clock.now()).toISOString().replace(/[:.]/g, '-')}`
    await rename(path, aside).catch((thrown: unknown) => {
      // Another process has moved it.
      if (codeOf(thrown) !== 'ENOENT') throw thrown
    })
    onWarning?.(`The ${what} could not be read: ${problem}. A new one is started, and this one was moved to ${aside}.`)
    return content
  }

  /**
   * Reads, changes and writes the file under the lock; nothing is written when the content stays the same object.
   * A file that cannot be understood is moved aside, with a warning.
   * @throws `storage_failed`
   */
  change<R>(run: (before: T) => Changed<T, R> | Promise<Changed<T, R>>): Promise<R> {
    const { what, lock } = this.#options
    const turn = this.#last.then(() =>
      this.locked(async (isHeld) => {
        // Read under the lock: another process may have moved the file aside and written a good one.
        const before = await this.readOrMoveAside()
        const [after, result] = await run(before)
        if (after === before) return result
        if (lock?.mayBeLost !== true && !isHeld())
          throw new AgentprotoError('storage_failed', `The lock on the ${what} was lost.`, { hint: 'Try again.' })
        await this.write(after)
        return result
      }),
    )
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Replaces the content. Only for one that holds the lock. @throws `storage_failed` */
  async write(content: T): Promise<void> {
    // Loaded on the first write: most processes only read.
    const { default: writeFileAtomic } = await import('write-file-atomic')
    try {
      await writeFileAtomic(this.#options.path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
    } catch (thrown) {
      throw this.#failed('written', { cause: thrown })
    }
  }

  /** Runs with the file locked against every other process. @throws `storage_failed`, or what the rules say */
  async locked<R>(run: (isHeld: () => boolean) => Promise<R>): Promise<R> {
    const { path, lock: { staleMs = 5_000, busy } = {} } = this.#options
    const { default: lockfile } = await import('proper-lockfile')
    let held = true
    let release: () => Promise<void>
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      release = await lockfile.lock(path, {
        // The file need not exist yet.
        realpath: false,
        ...(busy === undefined ? { retries: ABOUT_TEN_SECONDS } : {}),
        stale: staleMs,
        onCompromised: () => (held = false),
      })
    } catch (thrown) {
      if (busy !== undefined && codeOf(thrown) === 'ELOCKED') throw busy()
      const hint = `Try again. If no agentproto is running, remove ${path}.lock.`
      throw this.#failed('locked', { hint, cause: thrown })
    }
    try {
      return await run(() => held)
    } finally {
      // A lock that was taken over is no longer ours to release.
      if (held) await release().catch(() => undefined)
    }
  }

  #failed(verb: 'read' | 'written' | 'locked', parts: { readonly hint?: string; readonly cause: unknown }) {
    const { path, what } = this.#options
    return new AgentprotoError('storage_failed', `The ${what} cannot be ${verb}: ${path}.`, parts)
  }
}

const ABOUT_TEN_SECONDS = { retries: 150, factor: 1.2, minTimeout: 5, maxTimeout: 100, randomize: true }

const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
