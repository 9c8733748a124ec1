import type { Clock, EventGap, OutputItem, OutputLine, Timer } from '@agentproto/contracts'
import { BOUNDS, type OutputReader } from '@agentproto/contracts/wire'
import type { EventLog } from '../log/event-log.js'
import { eventOf } from '../log/event-record.js'
import { endOf } from '../log/log-batches.js'
import { gapText } from '../log/log-gap.js'
import type { TurnHistory } from '../turns/turn-history.js'
import { type Cursor, OutputFollower, parseCursor } from './output-follower.js'
import { Projection } from './projection.js'

/**
 * The output of one session as lines: its last ones, and readers that follow them. All are made from the log when they are
 * read: a session that is not read by lines pays nothing for them.
 */

export interface OutputFeedOptions {
  readonly log: Pick<EventLog, 'open' | 'lastSeq' | 'batches' | 'follow'>
  readonly turns: Pick<TurnHistory, 'all' | 'startOf'>
  readonly clock: Clock
  /** Whether the session has ended. */
  readonly isOver: () => boolean
}

const RING = BOUNDS.outputLinesMax
const DEFAULT_LINES = 200
const IDLE_DROP_MS = 30_000
const FILLED_TURNS = 3

export class OutputFeed {
  readonly #options: OutputFeedOptions
  #ring: Ring | undefined
  #dropTimer: Timer | undefined

  constructor(options: OutputFeedOptions) {
    this.#options = options
  }

  /** The last lines, oldest first. */
  async lines(lastN = DEFAULT_LINES): Promise<readonly OutputLine[]> {
    await this.#options.log.open()
    const items = await this.#kept().read()
    return items.flatMap(linesOf).slice(-lastN)
  }

  /**
   * Follows the lines after a cursor; without one from the start of the ring.
   * @throws `invalid_request` for a malformed cursor
   */
  async follow(cursor: string | undefined): Promise<OutputReader> {
    const { log, turns, clock, isOver } = this.#options
    const asked = cursor === undefined ? undefined : parseCursor(cursor)
    await log.open()
    const { lastSeq } = log
    // The cursor is of another log, or of a log that lost its end.
    const first = asked !== undefined && asked.seq > lastSeq ? [gapItem({ after: asked.seq, first: lastSeq + 1 })] : []
    const after = first.length > 0 ? { seq: lastSeq, n: Infinity } : (asked ?? (await this.#kept().start()))
    const events = await log.follow(turns.startOf(after.n === Infinity ? after.seq + 1 : after.seq) - 1)
    return new OutputFollower({ events, clock, isOver, after, first })
  }

  /** The log closes: no timer is left. */
  closed(): void {
    this.#dropTimer?.cancel()
    this.#ring = undefined
  }

  /** The ring, dropped some time after its last use. */
  #kept(): Ring {
    this.#ring ??= new Ring(this.#options)
    this.#dropTimer?.cancel()
    this.#dropTimer = this.#options.clock.after(IDLE_DROP_MS, () => (this.#ring = undefined))
    return this.#ring
  }
}

/** The ring buffer of AIP-46. Each read projects what was stored since the one before. */
class Ring {
  readonly #options: OutputFeedOptions
  readonly #projection = new Projection()
  readonly #firstSeq: number
  #items: OutputItem[] = []
  /** The last event that is projected. */
  #projected: number
  #reading: Promise<unknown> = Promise.resolve()

  constructor(options: OutputFeedOptions) {
    this.#options = options
    // It begins with the last turns: older lines would leave it at once.
    this.#firstSeq = options.turns.all.at(-FILLED_TURNS)?.firstSeq ?? 1
    this.#projected = this.#firstSeq - 1
  }

  /** What it holds, oldest first; up to twice its size. */
  read(): Promise<readonly OutputItem[]> {
    const reading = this.#reading.then(() => this.#read())
    this.#reading = reading.catch(() => undefined)
    return reading
  }

  /** The place before its first line. */
  async start(): Promise<Cursor> {
    const before = (await this.read()).at(-RING - 1)
    return before === undefined ? { seq: this.#firstSeq - 1, n: Infinity } : parseCursor(before.cursor)
  }

  async #read(): Promise<readonly OutputItem[]> {
    const { log, clock, isOver } = this.#options
    for await (const batch of log.batches(this.#projected)) {
      if (batch.gap !== undefined) this.#keep(this.#projection.skip(batch.gap))
      this.#keep(this.#projection.project(batch.records.map(eventOf)))
      this.#projected = endOf(batch) ?? this.#projected
    }
    this.#keep(this.#projection.flushSilent(isOver() ? Infinity : clock.now()))
    return this.#items
  }

  #keep(items: readonly OutputItem[]): void {
    for (const item of items) this.#items.push(item)
    if (this.#items.length > RING * 2) this.#items = this.#items.slice(-RING)
  }
}

function linesOf(item: OutputItem): readonly OutputLine[] {
  if (item.type === 'gap') return [{ line: `[gap] ${gapText(item.gap)}`, stream: 'stderr' }]
  return item.type === 'line' ? [item.line] : []
}

/** Its cursor stands for everything before the first event that there is. */
const gapItem = (gap: EventGap): OutputItem => ({ cursor: String(gap.first - 1), type: 'gap', gap })
