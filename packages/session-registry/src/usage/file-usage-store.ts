import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { USAGE_BOUNDS } from '@agentproto/contracts/wire'
import writeFileAtomic from 'write-file-atomic'
import { messageOf } from '../lifecycle/ending.js'
import { storageFailed } from '../records/stored-file.js'
import { compacted, type CountedSessions, DAY_MS, dayOf, rowOf, type UsageRow, type UsageStore } from './usage-row.js'

/**
 * One file a day, `usage/2026-11-22.jsonl`: a line is appended for each turn, and the lines of a day that is over are added
 * up. A line that was torn by a crash is skipped, and its turn is counted again from the log of its session.
 */

export interface FileUsageStoreOptions {
  readonly directory: string
  /** Called with a line that cannot be read, and with a file that cannot be added up or deleted. */
  readonly onProblem?: (problem: string) => void
}

/** Rows that a day keeps when it is added up; further sessions share rows. */
const MAX_DAY_ROWS = 10_000
/** Lines of the running day after which they are added up. */
const MAX_LINES = 20_000

export class FileUsageStore implements UsageStore {
  readonly #options: FileUsageStoreOptions
  /** What is written is written in order. */
  #last: Promise<unknown> = Promise.resolve()
  #today = ''
  #lines = 0

  constructor(options: FileUsageStoreOptions) {
    this.#options = options
  }

  async open(today: string): Promise<CountedSessions> {
    this.#today = today
    await this.#tidy()
    // The day before the newest one too: a turn may have ended at midnight, of which the crash left nothing.
    const newest = (await this.#days()).slice(-2)
    const seqs = new Map<string, number>()
    for (const day of newest)
      for (const { session, seq } of await this.#read(day))
        if (session !== undefined) seqs.set(session, Math.max(seq, seqs.get(session) ?? 0))
    const [since] = newest
    return { seqs, ...(since === undefined ? {} : { since }) }
  }

  add(rows: readonly UsageRow[]): Promise<void> {
    return this.#inOrder(async () => {
      const [{ day } = { day: this.#today }] = rows
      if (day > this.#today) {
        this.#today = day
        await this.#tidy()
      }
      await this.#append(day, rows)
      this.#lines += rows.length
      if (this.#lines > MAX_LINES) await this.#compact(this.#today, Infinity)
    })
  }

  async *rows(from: string, to: string): AsyncGenerator<readonly UsageRow[]> {
    await this.#last
    for (const day of await this.#days()) if (day >= from && day <= to) yield await this.#read(day)
  }

  async close(): Promise<void> {
    await this.#last
  }

  #inOrder(run: () => Promise<void>): Promise<void> {
    const done = this.#last.then(run)
    this.#last = done.catch(() => undefined)
    return done
  }

  async #append(day: string, rows: readonly UsageRow[]): Promise<void> {
    const path = this.#pathOf(day)
    // It begins with a newline, so that a line before it that was torn spoils no other.
    const text = `\n${rows.map((row) => JSON.stringify(row)).join('\n')}\n`
    try {
      await appendAll(path, text).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        await mkdir(this.#options.directory, { recursive: true, mode: 0o700 })
        await appendAll(path, text)
      })
    } catch (cause) {
      throw storageFailed(`The usage in ${path} could not be written`, cause)
    }
  }

  /** Adds up the days that are over, and deletes those that are no longer kept. A failure is tried again the next day. */
  async #tidy(): Promise<void> {
    this.#lines = 0
    const days = await this.#days()
    const first = dayOf(Date.parse(this.#today) - USAGE_BOUNDS.days * DAY_MS)
    for (const day of days.filter((each) => each <= first)) await this.#orReport(rm(this.#pathOf(day)))
    const over = days.filter((each) => each > first && each < this.#today)
    // Those of the last week may not be added up yet. The two newest keep all sessions, since `open` compares them.
    for (const day of over.slice(-7))
      await this.#orReport(this.#compact(day, days.slice(-2).includes(day) ? Infinity : MAX_DAY_ROWS))
  }

  async #compact(day: string, maxRows: number): Promise<void> {
    const rows = await this.#read(day)
    const sums = compacted(rows, maxRows)
    this.#lines = 0
    if (sums.length === rows.length) return
    const text = sums.map((row) => JSON.stringify(row)).join('\n')
    await writeFileAtomic(this.#pathOf(day), `${text}\n`, { mode: 0o600 })
  }

  async #read(day: string): Promise<readonly UsageRow[]> {
    const path = this.#pathOf(day)
    const text = await readFile(path, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return ''
      throw storageFailed(`The usage in ${path} could not be read`, thrown)
    })
    const lines = text.split('\n').filter((line) => line !== '')
    const rows = lines.flatMap((line) => rowOf(line) ?? [])
    if (rows.length < lines.length)
      this.#options.onProblem?.(`${lines.length - rows.length} line(s) of ${path} could not be read`)
    return rows
  }

  /** In order. */
  async #days(): Promise<readonly string[]> {
    const names = await readdir(this.#options.directory).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return []
      throw storageFailed(`The usage in ${this.#options.directory} could not be read`, thrown)
    })
    return names.flatMap((name) => DAY_FILE.exec(name)?.[1] ?? []).sort()
  }

  async #orReport(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => this.#options.onProblem?.(messageOf(error)))
  }

  #pathOf(day: string): string {
    return join(this.#options.directory, `${day}.jsonl`)
  }
}

/** Appends all of a text or nothing: rows that are on a full disk already would be counted again with the next ones. */
async function appendAll(path: string, text: string): Promise<void> {
  const file = await open(path, 'a', 0o600)
  const { size } = await file.stat()
  try {
    await file.appendFile(text)
  } catch (error) {
    // The caller gets the error of the write.
    await file.truncate(size).catch(() => undefined)
    throw error
  } finally {
    await file.close()
  }
}

const DAY_FILE = /^(\d{4}-\d\d-\d\d)\.jsonl$/
