import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError, type Clock, type SessionStore, type StoredSession, type Timer } from '@agentproto/contracts'
import writeFileAtomic from 'write-file-atomic'
import { assertSessionId } from './session-id.js'
import { parseStoredSession } from './stored-session.js'

/**
 * `sessions/<id>/meta.json` per session, and `sessions.json`, AIP-46's snapshot of all descriptors: the
 * index that makes a boot with ten thousand sessions one read. A directory newer than the index wins.
 */

export interface FileSessionStoreOptions {
  readonly directory: string
  readonly indexPath: string
  readonly clock: Clock
}

const INDEX_DELAY_MS = 500
/** Writing the index takes at most about this share of the time. */
const INDEX_SHARE = 20
/** Clock granularity of file systems, in milliseconds: closer than this, the directory is read again. */
const MTIME_SLACK_MS = 2_000

export class FileSessionStore implements SessionStore {
  readonly #options: FileSessionStoreOptions
  /** Each record serialised once: the index is their concatenation. */
  readonly #records = new Map<string, string>()
  readonly #saving = new Map<string, Promise<void>>()
  #timer: Timer | undefined
  #lastCostMs = 0
  #writing: Promise<void> = Promise.resolve()
  #closed = false

  constructor(options: FileSessionStoreOptions) {
    this.#options = options
  }

  async load(): Promise<{ sessions: readonly StoredSession[]; problems: readonly string[] }> {
    const { directory } = this.#options
    const problems: string[] = []
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const index = await this.#readIndex(problems)
    const sessions: StoredSession[] = []
    const ids = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isDirectory())
    for (const group of chunks(ids, 64)) {
      const loaded = await Promise.all(group.map(({ name }) => this.#load(name, index, problems)))
      sessions.push(...loaded.filter((record) => record !== undefined))
    }
    for (const record of sessions) this.#records.set(record.session.id, JSON.stringify(record))
    sessions.sort((a, b) => a.session.startedAt.localeCompare(b.session.startedAt))
    return { sessions, problems }
  }

  save(record: StoredSession): Promise<void> {
    if (this.#closed) return Promise.reject(new AgentprotoError('shutting_down', 'The session store is closed'))
    const { id } = record.session
    const json = JSON.stringify(record)
    this.#records.set(id, json)
    this.#indexLater()
    // One write a session at a time, in order; what is overtaken while it waits is skipped (failure mode 45).
    const previous = this.#saving.get(id) ?? Promise.resolve()
    const saving = previous
      .catch(() => undefined)
      .then(() => (this.#records.get(id) === json ? this.#write(id, json) : undefined))
    this.#saving.set(id, saving)
    return saving.finally(() => {
      if (this.#saving.get(id) === saving) this.#saving.delete(id)
    })
  }

  async delete(sessionId: string): Promise<void> {
    this.#records.delete(sessionId)
    await this.#saving.get(sessionId)?.catch(() => undefined)
    await rm(join(this.#options.directory, assertSessionId(sessionId)), { recursive: true, force: true })
    this.#indexLater()
  }

  async close(): Promise<void> {
    if (this.#closed) return this.#writing
    this.#closed = true
    this.#timer?.cancel()
    await Promise.allSettled(this.#saving.values())
    await this.#writing
    await this.#writeIndex()
  }

  async #write(id: string, json: string): Promise<void> {
    const directory = join(this.#options.directory, assertSessionId(id))
    try {
      await writeFileAtomic(join(directory, 'meta.json'), json, { mode: 0o600, fsync: false }).catch(
        async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error
          await mkdir(directory, { recursive: true, mode: 0o700 })
          await writeFileAtomic(join(directory, 'meta.json'), json, { mode: 0o600, fsync: false })
        },
      )
    } catch (cause) {
      throw new AgentprotoError('storage_failed', `The record of session ${id} could not be written`, {
        given: cause instanceof Error ? cause.message : cause,
        hint: 'Check the free space and the permissions of the agentproto home',
        cause,
      })
    }
  }

  #indexLater(): void {
    if (this.#closed || this.#timer !== undefined) return
    this.#timer = this.#options.clock.after(Math.max(INDEX_DELAY_MS, this.#lastCostMs * INDEX_SHARE), () => {
      this.#timer = undefined
      // A failed index is rebuilt from the directories at boot, so nothing is lost with it.
      this.#writing = this.#writeIndex().catch(() => undefined)
    })
  }

  async #writeIndex(): Promise<void> {
    const began = this.#options.clock.now()
    const savedAt = new Date(began).toISOString()
    const text = `{"version":1,"savedAt":"${savedAt}","sessions":[\n${[...this.#records.values()].join(',\n')}\n]}\n`
    await writeFileAtomic(this.#options.indexPath, text, { mode: 0o600, fsync: false })
    this.#lastCostMs = this.#options.clock.now() - began
  }

  async #readIndex(problems: string[]): Promise<Index> {
    const { indexPath } = this.#options
    try {
      const index = JSON.parse(await readFile(indexPath, 'utf8')) as { savedAt?: unknown; sessions?: unknown }
      const sessions = Array.isArray(index.sessions) ? index.sessions.map(parseStoredSession) : []
      const savedAt = typeof index.savedAt === 'string' ? Date.parse(index.savedAt) : Number.NaN
      if (Number.isNaN(savedAt)) return EMPTY_INDEX
      return {
        savedAt,
        records: new Map(sessions.flatMap((record) => (record === undefined ? [] : [[record.session.id, record]]))),
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push(await moveAside(indexPath))
      return EMPTY_INDEX
    }
  }

  async #load(name: string, index: Index, problems: string[]): Promise<StoredSession | undefined> {
    const path = join(this.#options.directory, name, 'meta.json')
    const known = index.records.get(name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: undefined }))
    // Without a record nothing was acknowledged: the directory is of a spawn that died at birth.
    if (mtimeMs === undefined) return undefined
    if (known !== undefined && mtimeMs < index.savedAt - MTIME_SLACK_MS) return known
    const record = await readRecord(path)
    if (record !== undefined) return record
    problems.push(await moveAside(path))
    return known
  }
}

interface Index {
  readonly savedAt: number
  readonly records: ReadonlyMap<string, StoredSession>
}

const EMPTY_INDEX: Index = { savedAt: 0, records: new Map() }

async function readRecord(path: string): Promise<StoredSession | undefined> {
  try {
    return parseStoredSession(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** An unreadable file is kept under another name, never overwritten (failure mode 45). */
async function moveAside(path: string): Promise<string> {
  const aside = `${path}.unreadable-${process.pid}`
  await rename(path, aside).catch(() => undefined)
  return `${path} could not be read and was moved to ${aside}`
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const groups: T[][] = []
  for (let i = 0; i < items.length; i += size) groups.push(items.slice(i, i + size))
  return groups
}
