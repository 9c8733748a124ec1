import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError, asRecord, type Clock, isLive, type Timer } from '@agentproto/contracts'
import type { SessionStore, StoredSession } from '@agentproto/contracts/agent'
import writeFileAtomic from 'write-file-atomic'
import { removeKilledSaves } from './killed-saves.js'
import { assertSessionId } from './session-id.js'
import { moveAside, storageFailed } from './stored-file.js'
import { byStart, parseStoredSession } from './stored-session.js'

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
/** Records in one write. */
const INDEX_GROUP = 128
/** Clock granularity of file systems, in milliseconds: closer than this, the directory is read again. */
const MTIME_SLACK_MS = 2_000

export class FileSessionStore implements SessionStore {
  readonly #options: FileSessionStoreOptions
  /** Each record serialised once: the index is their concatenation. */
  readonly #records = new Map<string, string>()
  readonly #saving = new Map<string, Promise<void>>()
  #timer: Timer | undefined
  #lastCostMs = 0
  #indexes = 0
  #writing: Promise<void> = Promise.resolve()
  #closed = false

  constructor(options: FileSessionStoreOptions) {
    this.#options = options
  }

  async load(): Promise<{ sessions: readonly StoredSession[]; problems: readonly string[] }> {
    const problems: string[] = []
    const index = await this.#readIndex(problems)
    removeKilledSaves(this.#options.indexPath)
    const sessions: StoredSession[] = []
    for (const name of this.#folders()) {
      const found = await this.#load(name, index, problems)
      if (found === undefined) continue
      // Only what lives is saved often. Looking into the folders of all sessions would take as long as reading them.
      if (isLive(found.record.session)) removeKilledSaves(join(this.#options.directory, name, 'meta.json'))
      sessions.push(found.record)
      this.#records.set(found.record.session.id, found.json)
    }
    return { sessions: sessions.sort(byStart), problems }
  }

  save(record: StoredSession): Promise<void> {
    if (this.#closed) return Promise.reject(closedError())
    const { id } = record.session
    const json = JSON.stringify(record)
    this.#records.set(id, json)
    this.#indexLater()
    // One write for each session at a time, in order; an outdated record that waits is skipped (failure mode 45).
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
    if (this.#closed) throw closedError()
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
    await this.#writeIndex().catch(() => undefined)
  }

  async #write(id: string, json: string): Promise<void> {
    const directory = join(this.#options.directory, assertSessionId(id))
    const write = (): Promise<void> =>
      writeFileAtomic(join(directory, 'meta.json'), json, { mode: 0o600, fsync: false })
    try {
      await write().catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        await mkdir(directory, { recursive: true, mode: 0o700 })
        await write()
      })
    } catch (cause) {
      throw storageFailed(`The record of session ${id} could not be written`, cause)
    }
  }

  #indexLater(): void {
    if (this.#closed || this.#timer !== undefined) return
    this.#timer = this.#options.clock.after(Math.max(INDEX_DELAY_MS, this.#lastCostMs * INDEX_SHARE), () => {
      this.#timer = undefined
      // A failed index is rebuilt from the directories at boot, so nothing is lost with it.
      this.#writing = this.#writing.then(() => this.#writeIndex()).catch(() => undefined)
    })
  }

  /** In pieces: at ten thousand sessions one write would block the gateway for tens of milliseconds. */
  async #writeIndex(): Promise<void> {
    const began = this.#options.clock.now()
    const { indexPath } = this.#options
    const aside = `${indexPath}.${process.pid}-${(this.#indexes += 1)}`
    const file = await open(aside, 'wx', 0o600)
    try {
      await file.write(`{"version":1,"savedAt":"${new Date(began).toISOString()}","sessions":[\n`)
      let written = 0
      const ids = [...this.#records.keys()]
      for (let at = 0; at < ids.length; at += INDEX_GROUP) {
        const records = ids.slice(at, at + INDEX_GROUP).flatMap((id) => this.#records.get(id) ?? [])
        if (records.length > 0) await file.write(`${written > 0 ? ',\n' : ''}${records.join(',\n')}`)
        written += records.length
      }
      await file.write(written > 0 ? '\n]}\n' : ']}\n')
      await file.close()
      await rename(aside, indexPath)
    } catch (error) {
      await file.close().catch(() => undefined)
      await rm(aside, { force: true })
      throw error
    }
    this.#lastCostMs = this.#options.clock.now() - began
  }

  async #readIndex(problems: string[]): Promise<Index> {
    const { indexPath } = this.#options
    try {
      return parseIndex(await readFile(indexPath))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push(await moveAside(indexPath))
      return EMPTY_INDEX
    }
  }

  /** @throws `storage_failed`: what cannot be listed must not be taken for an empty home (failure mode 46) */
  #folders(): string[] {
    const { directory } = this.#options
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      const entries = readdirSync(directory, { withFileTypes: true })
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    } catch (cause) {
      throw storageFailed('The sessions of the agentproto home cannot be listed', cause)
    }
  }

  /**
   * Reads synchronously: nothing else runs before the boot is done, and ten thousand reads through the thread pool take
   * ten times as long.
   */
  async #load(name: string, index: Index, problems: string[]): Promise<Found | undefined> {
    const path = join(this.#options.directory, name, 'meta.json')
    const known = index.records.get(name)
    const mtimeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    // A record that was moved aside at an earlier boot is still in the index. One that is nowhere was never acknowledged: its
    // host died during the spawn.
    if (mtimeMs === undefined) return known
    if (known !== undefined && mtimeMs < index.savedAt - MTIME_SLACK_MS) return known
    const found = readRecord(path)
    if (found !== undefined) return found
    problems.push(await moveAside(path))
    return known
  }
}

/** A record with its JSON, for the index. */
interface Found {
  readonly record: StoredSession
  readonly json: string
}

interface Index {
  readonly savedAt: number
  readonly records: ReadonlyMap<string, Found>
}

const EMPTY_INDEX: Index = { savedAt: 0, records: new Map() }
const NEWLINE = 10

/** The index has one record in each line, so that none has to be serialised again. Throws if it is not an index. */
function parseIndex(bytes: Buffer): Index {
  const head = bytes.indexOf(NEWLINE)
  const { version, savedAt } = asRecord(JSON.parse(`${bytes.toString('utf8', 0, head)}]}`))
  if (version !== 1) throw new AgentprotoError('storage_corrupt', 'The index of the sessions is of another version')
  const time = typeof savedAt === 'string' ? Date.parse(savedAt) : Number.NaN
  if (Number.isNaN(time)) return EMPTY_INDEX
  const records = new Map<string, Found>()
  let from = head + 1
  for (let eol = bytes.indexOf(NEWLINE, from); eol >= 0; eol = bytes.indexOf(NEWLINE, from)) {
    const line = bytes.toString('utf8', from, eol)
    from = eol + 1
    if (line === ']}') return { savedAt: time, records }
    // Earlier versions wrote an empty line where there was no session.
    const found = line === '' ? undefined : foundIn(line.endsWith(',') ? line.slice(0, -1) : line)
    if (found !== undefined) records.set(found.record.session.id, found)
  }
  throw new AgentprotoError('storage_corrupt', 'The index of the sessions has no end')
}

function foundIn(json: string): Found | undefined {
  const record = parseStoredSession(JSON.parse(json))
  return record === undefined ? undefined : { record, json }
}

function readRecord(path: string): Found | undefined {
  try {
    return foundIn(readFileSync(path, 'utf8').trim())
  } catch {
    return undefined
  }
}

const closedError = (): AgentprotoError => new AgentprotoError('shutting_down', 'The session store is closed')
