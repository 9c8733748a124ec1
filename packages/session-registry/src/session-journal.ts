import type {
  Clock,
  StoredLog,
  EventStore,
  EventReader,
  OutputLine,
  OutputReader,
  SessionEvent,
  Timer,
} from '@agentproto/contracts'
import { OutputFeed } from './output/output-feed.js'
import { Spine } from './log/spine.js'

/**
 * The log of one session with what is projected from it. A session that has ended has its journal opened
 * for a reader and closed again when nobody has read for a while, so that ten thousand old sessions cost
 * no descriptor and no lines in memory.
 */

export interface SessionJournalOptions {
  readonly sessionId: string
  readonly logs: EventStore
  readonly clock: Clock
  readonly redact?: (text: string) => string
  readonly turnStart: (seq: number) => number
  /** Where the lines of a session begin that are still worth keeping. */
  readonly outputFrom: () => number
  readonly isLive: () => boolean
  /** Told what was stored; the first `known` of it had taken effect before it could be. */
  readonly onStored: (events: readonly SessionEvent[], known: number) => void
  /** Nobody has read for a while; the journal is closed. */
  readonly onUnread: () => void
}

export interface OpenJournal {
  readonly spine: Spine
  readonly feed: OutputFeed
}

interface Opened extends OpenJournal {
  readonly log: StoredLog
}

const IDLE_CLOSE_MS = 30_000

export class SessionJournal {
  readonly #options: SessionJournalOptions
  #opening: Promise<Opened> | undefined
  /** Of the journal that is open. */
  #spine: Spine | undefined
  #readers = 0
  #timer: Timer | undefined
  /** The last sequence number that was seen; of a closed journal too. */
  #lastSeq: number

  constructor(options: SessionJournalOptions, lastSeq: number) {
    this.#options = options
    this.#lastSeq = lastSeq
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  get isOpen(): boolean {
    return this.#opening !== undefined
  }

  /** Whether the log lacks what is known of the session, since it could not be written. */
  get owes(): boolean {
    return this.#spine?.owes ?? false
  }

  /** Writes what the log lacks. @throws `storage_failed` */
  async pay(): Promise<void> {
    if (this.owes) await this.#spine?.append([])
  }

  async open(): Promise<OpenJournal> {
    const journal = await this.#open()
    this.#closeLater()
    return journal
  }

  async follow(after: number): Promise<EventReader> {
    const { spine } = await this.#open()
    return this.#counted(spine.follow(after, () => !this.#options.isLive()))
  }

  async followOutput(cursor: string | undefined): Promise<OutputReader> {
    const { feed } = await this.#open()
    return this.#counted(await feed.follow(cursor, () => !this.#options.isLive()))
  }

  async lines(lastN: number): Promise<readonly OutputLine[]> {
    const { feed } = await this.open()
    return feed.lines(lastN)
  }

  /** The session's liveness has changed: readers look again, and an unread journal closes. */
  async settle(): Promise<void> {
    if (this.#opening === undefined) return
    const { spine, feed } = await this.#opening
    if (!this.#options.isLive()) feed.close()
    spine.wake()
    feed.wake()
    this.#closeLater()
  }

  async close(): Promise<void> {
    this.#timer?.cancel()
    const opening = this.#opening
    this.#opening = undefined
    if (opening === undefined) return
    const { log, feed, spine } = await opening
    // What it lacks even now, the next host finds missing: no record that knows of it is stored before the log has it.
    if (spine.owes) await spine.append([]).catch(() => undefined)
    if (this.#spine === spine && !spine.owes) this.#spine = undefined
    feed.release()
    await log.close()
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#make().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #make(): Promise<Opened> {
    const { sessionId, logs, clock, redact, turnStart, onStored } = this.#options
    const { log, repairs } = await logs.open(sessionId)
    this.#lastSeq = log.lastSeq
    const spine: Spine = new Spine({
      sessionId,
      log,
      clock,
      ...(redact === undefined ? {} : { redact }),
      onStored: (events, known) => {
        this.#lastSeq = spine.lastSeq
        onStored(events, known)
        feed.push(events)
      },
    })
    const feed = new OutputFeed({ spine, clock, turnStart, startFrom: this.#options.outputFrom })
    this.#spine = spine
    const told = repairs.map((detail) => ({ type: 'repair', detail }) as const)
    await spine.append(told).catch(() => spine.owe(told))
    return { spine, feed, log }
  }

  #restUnlessReopened(): void {
    if (this.#opening === undefined) this.#options.onUnread()
  }

  #counted<R extends { close(): void }>(reader: R): R {
    this.#readers += 1
    let counted = true
    const close = reader.close.bind(reader)
    return Object.assign(reader, {
      close: () => {
        close()
        if (!counted) return
        counted = false
        this.#readers -= 1
        this.#closeLater()
      },
    })
  }

  /** A log that takes nothing yet is tried again later: what it lacks is nowhere else. */
  async #closeUnlessOwing(): Promise<void> {
    try {
      await this.pay()
    } catch {
      return this.#closeLater()
    }
    await this.close()
    this.#restUnlessReopened()
  }

  #closeLater(): void {
    if (this.#opening === undefined || this.#options.isLive() || this.#readers > 0) return
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(IDLE_CLOSE_MS, () => {
      if (!this.#options.isLive() && this.#readers === 0) void this.#closeUnlessOwing()
    })
  }
}
