import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, isRecord, parseJson } from '@agentproto/contracts'
import type { DropReason } from '@agentproto/contracts/wire'
import type { OutboxLimits } from './notify-options.js'
import type { Message } from './webhook.js'

export interface OutboxOptions extends Required<OutboxLimits> {
  /** Absolute path; undefined keeps it in memory. */
  readonly directory: string | undefined
  readonly clock: Clock
  readonly onDropped: (reason: DropReason, count: number) => void
  /** A disk that fails costs what a restart would find, not the delivery. */
  readonly onProblem: (problem: string) => void
}

/** A message that waits. */
export interface Entry extends Message {
  /** When it was added, in milliseconds since the epoch. */
  readonly at: number
  /** How often the receiver refused this message, since the start. */
  readonly refused: number
}

/** `<milliseconds>-<id>.json`: the names are in the order in which the messages were added. */
const FILE = /^(\d{13})-(msg_[0-9a-z]{1,40})\.json$/
/** A file that is larger is not one of ours. */
const MAX_FILE_CHARS = 16 * 1024

/**
 * The messages that are not delivered yet, oldest first, each in a file of its own, so that they survive the end of the
 * process, however it ends: at least once, always with the same id and body.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  /** Files are written and deleted one after the other. */
  #work: Promise<void> = Promise.resolve()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** When the oldest one was added. */
  get oldestAt(): number | undefined {
    if (this.#entries.size === 0) return undefined
    return Math.min(...[...this.#entries.values()].map(({ at }) => at))
  }

  /** The one to send next. */
  get first(): Entry | undefined {
    this.#expire()
    const [first] = this.#entries.values()
    return first
  }

  /** Reads what an earlier process left. Never rejects. */
  async open(): Promise<void> {
    const { directory, onDropped, onProblem } = this.#options
    if (directory === undefined) return
    const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') onProblem(`The outbox cannot be read: ${error.message}`)
      return []
    })
    let unreadable = 0
    for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
      const entry = await readEntry(directory, name)
      if (entry !== undefined) this.#put(entry)
      else {
        unreadable += name.endsWith('.json') ? 1 : 0
        await rm(join(directory, name), { recursive: true, force: true }).catch(() => undefined)
      }
    }
    if (unreadable > 0) {
      onDropped('unreadable', unreadable)
      onProblem(`${unreadable} files of the outbox could not be read and were deleted`)
    }
    this.#bound()
  }

  /** Stores a message. Resolves when its file is written, or could not be. */
  async add({ id, body }: Message): Promise<void> {
    const entry: Entry = { id, body, at: this.#options.clock.now(), refused: 0 }
    this.#put(entry)
    this.#bound()
    if (this.#entries.has(id)) await this.#do((directory) => writeEntry(directory, entry))
  }

  /** Forgets a message that was delivered or dropped. */
  async remove(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    this.#entries.delete(id)
    this.#bytes -= bytesOf(entry)
    await this.#do((directory) => rm(join(directory, nameOf(entry)), { force: true }))
  }

  /** Puts a message behind the others. */
  postpone(id: string, { isRefused }: { readonly isRefused: boolean }): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    this.#entries.delete(id)
    this.#entries.set(id, { ...entry, refused: entry.refused + (isRefused ? 1 : 0) })
  }

  refusalsOf(id: string): number {
    return this.#entries.get(id)?.refused ?? 0
  }

  /** Resolves when the files are as the entries. */
  flushed(): Promise<void> {
    return this.#work
  }

  #put(entry: Entry): void {
    this.#entries.set(entry.id, entry)
    this.#bytes += bytesOf(entry)
  }

  #expire(): void {
    const { clock, maxAgeMs } = this.#options
    const before = clock.now() - maxAgeMs
    const old = [...this.#entries.values()].filter(({ at }) => at < before)
    this.#drop('expired', old)
  }

  #bound(): void {
    const { entries, bytes } = this.#options
    const full: Entry[] = []
    let left = this.#entries.size
    let size = this.#bytes
    for (const entry of this.#entries.values()) {
      if (left <= entries && size <= bytes) break
      full.push(entry)
      left -= 1
      size -= bytesOf(entry)
    }
    this.#drop('full', full)
  }

  #drop(reason: DropReason, entries: readonly Entry[]): void {
    if (entries.length === 0) return
    for (const { id } of entries) void this.remove(id)
    this.#options.onDropped(reason, entries.length)
  }

  #do(step: (directory: string) => Promise<void>): Promise<void> {
    const { directory, onProblem } = this.#options
    if (directory === undefined) return Promise.resolve()
    this.#work = this.#work.then(() =>
      step(directory).catch((error: Error) => onProblem(`The outbox cannot be written: ${error.message}`)),
    )
    return this.#work
  }
}

async function writeEntry(directory: string, entry: Entry): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, nameOf(entry))
  const draft = `${path}.tmp`
  try {
    await writeFile(draft, entry.body, { mode: 0o600 })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Undefined for what is not a message of ours: a draft that was not finished, or garbage. */
async function readEntry(directory: string, name: string): Promise<Entry | undefined> {
  const [, at, id] = FILE.exec(name) ?? []
  if (at === undefined || id === undefined) return undefined
  const body = await readFile(join(directory, name), 'utf8').catch(() => '')
  const content = body.length > MAX_FILE_CHARS ? undefined : parseJson(body)
  if (!isRecord(content) || typeof content['type'] !== 'string' || !isRecord(content['data'])) return undefined
  return { id, body, at: Number(at), refused: 0 }
}

const nameOf = ({ at, id }: Entry): string => `${String(at).padStart(13, '0')}-${id}.json`
const bytesOf = ({ body }: Entry): number => Buffer.byteLength(body)
