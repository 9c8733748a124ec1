import {
  AgentprotoError,
  type Clock,
  type EventGap,
  type OutputItem,
  type OutputLine,
  type SessionEvent,
  type Timer,
} from '@agentproto/contracts'
import { BOUNDS, type OutputReader } from '@agentproto/contracts/wire'
import { eventOf } from '../log/event-record.js'
import { gapText } from '../log/log-gap.js'
import { type Cursor, Projection } from './projection.js'
import type { EventLog } from '../log/event-log.js'
import type { TurnHistory } from '../turns/turn-history.js'
import { Wakeup } from '../log/wakeup.js'

/**
 * The ring buffer of AIP-46: the last lines of a session, and readers that follow them. It is made from the
 * log at the first read, kept up while there are readers, and dropped some time after the last one: a session
 * that is not read by lines pays nothing for them. A reader whose cursor has left the ring is
 * served by projecting the log again from the turn that the cursor is in.
 */

export interface OutputFeedOptions {
  readonly log: EventLog
  readonly turns: TurnHistory
  readonly clock: Clock
  /** Whether the session has ended. */
  readonly isOver: () => boolean
}

const RING = BOUNDS.outputLinesMax
const BATCH = 512
const IDLE_DROP_MS = 30_000
const FILLED_TURNS = 3

export class OutputFeed {
  readonly #options: OutputFeedOptions
  readonly #wakeup = new Wakeup()
  #projection = new Projection()
  #ring: OutputItem[] = []
  /** Whether something has been dropped from the ring, or was never in it. */
  #incomplete = false
  /** The last event that is projected; undefined while there is no ring. */
  #projected: number | undefined
  #filling: Promise<void> | undefined
  #readers = 0
  #flushTimer: Timer | undefined
  #dropTimer: Timer | undefined
  #isReleased = false

  constructor(options: OutputFeedOptions) {
    this.#options = options
  }

  /** Takes stored events, in order; while there is no ring, or it is being filled, the log has them. */
  stored(events: readonly SessionEvent[]): void {
    if (this.#projected === undefined || events[0]?.seq !== this.#projected + 1) return
    this.#take(events)
    this.#armFlush()
  }

  /** The last lines, oldest first. */
  async lines(lastN: number): Promise<readonly OutputLine[]> {
    await this.#options.log.open()
    await this.#fill()
    this.#dropLater()
    return this.#ring.flatMap(linesOf).slice(-lastN)
  }

  /** @throws `invalid_request` for a malformed cursor */
  async follow(cursor: string | undefined): Promise<OutputReader> {
    let at = cursor === undefined ? undefined : parseCursor(cursor)
    const { log, isOver } = this.#options
    await log.open()
    const release = log.retain()
    this.#readers += 1
    await this.#fill()
    let closed = false
    let replay: Replay | undefined
    let gapToReport = this.#beyond(at)
    const advance = (items: readonly OutputItem[] | undefined): readonly OutputItem[] | undefined => {
      const last = items?.at(-1)
      if (last !== undefined) at = parseCursor(last.cursor)
      return items
    }
    return {
      next: async (signal) => {
        while (!closed && !(signal?.aborted ?? false)) {
          const gap = gapToReport
          gapToReport = undefined
          if (gap !== undefined) return advance([gap])
          const near = this.#after(at)
          if (near !== undefined) {
            replay = undefined
            if (near.length > 0) return advance(near)
            if (isOver() && this.#projection.flushAt === undefined) return undefined
            await this.#wakeup.wait(signal)
            continue
          }
          replay ??= this.#replay(at as Cursor)
          const { value, done } = await replay.next()
          if (done !== true) return advance(value)
          // Projected to the log's end: what came meanwhile is in the ring, or needs one more round.
          at = value
          replay = undefined
        }
        return undefined
      },
      close: () => {
        if (closed) return
        closed = true
        this.#readers -= 1
        this.#dropLater()
        this.#wakeup.wake()
        release()
      },
    }
  }

  /** The session has ended: text that waits for its newline becomes a line. */
  settle(): void {
    this.#flushTimer?.cancel()
    this.#flushTimer = undefined
    this.#keep(this.#projection.flushSilent(Infinity))
    this.#wakeup.wake()
  }

  /** The log closes: no timer is left, and readers get the rest. */
  closed(): void {
    this.#isReleased = true
    this.#dropTimer?.cancel()
    this.settle()
  }

  /** Makes the ring from the log, up to what is stored by the time that it gets there. */
  #fill(): Promise<void> {
    this.#isReleased = false
    if (this.#projected === this.#options.log.lastSeq) return Promise.resolve()
    this.#filling ??= this.#project().finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  async #project(): Promise<void> {
    const { log, turns } = this.#options
    // The ring begins with the last turns: older lines would leave it at once.
    const from = this.#projected === undefined ? (turns.all.at(-FILLED_TURNS)?.firstSeq ?? 1) : this.#projected + 1
    if (this.#projected === undefined) this.#incomplete = from > 1
    this.#projected = from - 1
    while (this.#projected < log.lastSeq) {
      const { records, gap } = await log.read(this.#projected, BATCH * 2)
      if (gap !== undefined) this.#skip(gap)
      if (records.length === 0 && gap === undefined) break
      // What was pushed while this was read has been taken already.
      this.#take(records.filter(({ seq }) => seq > (this.#projected ?? 0)).map(eventOf))
    }
    this.#keep(this.#projection.flushSilent(this.#options.clock.now()))
    this.#armFlush()
  }

  #skip(gap: EventGap): void {
    if (this.#projected === undefined || gap.first - 1 <= this.#projected) return
    // What a reader has had of it is known to no ring that begins with it.
    if (this.#ring.length === 0) this.#incomplete = true
    this.#projected = gap.first - 1
    this.#keep(this.#projection.skip(gap))
  }

  #take(events: readonly SessionEvent[]): void {
    this.#projected = events.at(-1)?.seq ?? this.#projected
    this.#keep(this.#projection.project(events))
  }

  #keep(items: readonly OutputItem[]): void {
    if (items.length === 0) return
    for (const item of items) this.#ring.push(item)
    if (this.#ring.length > RING * 2) {
      this.#ring = this.#ring.slice(-RING)
      this.#incomplete = true
    }
    this.#wakeup.wake()
  }

  #armFlush(): void {
    const due = this.#projection.flushAt
    if (due === undefined || this.#flushTimer !== undefined || this.#isReleased) return
    // One timer at a time: a flood of deltas moves the deadline, the timer looks again when it fires.
    this.#flushTimer = this.#options.clock.after(Math.max(0, due - this.#options.clock.now()), () => {
      this.#flushTimer = undefined
      this.#keep(this.#projection.flushSilent(this.#options.clock.now()))
      this.#armFlush()
    })
  }

  #dropLater(): void {
    this.#dropTimer?.cancel()
    if (this.#readers > 0 || this.#isReleased) return
    this.#dropTimer = this.#options.clock.after(IDLE_DROP_MS, () => {
      if (this.#readers > 0 || this.#filling !== undefined) return
      this.#flushTimer?.cancel()
      this.#flushTimer = undefined
      this.#projection = new Projection()
      this.#ring = []
      this.#projected = undefined
    })
  }

  /** What the ring has after a position; undefined when the position lies before the ring. */
  #after(at: Cursor | undefined): readonly OutputItem[] | undefined {
    if (at === undefined) return this.#ring.slice(-RING).slice(0, BATCH)
    const first = this.#ring[0]
    if (this.#incomplete && (first === undefined || isBefore(at, parseCursor(first.cursor)))) {
      return at.seq >= this.#options.log.lastSeq ? [] : undefined
    }
    const from = firstAfter(this.#ring, at)
    return this.#ring.slice(from, from + BATCH)
  }

  /** The notice for a cursor beyond the end: of another log, or of a log that lost its end. */
  #beyond(at: Cursor | undefined): OutputItem | undefined {
    const { lastSeq } = this.#options.log
    return at === undefined || at.seq <= lastSeq ? undefined : gapItem({ after: at.seq, first: lastSeq + 1 })
  }

  /** Yields what follows a position, and returns the position after all of it. */
  async *#replay(at: Cursor): Replay {
    const projection = new Projection()
    const end = this.#options.log.lastSeq
    for await (const { events, gap } of eventsBetween(this.#options.log, this.#options.turns.startOf(at.seq), end)) {
      // Only what the reader has not had is missing to it: the turn may have begun before.
      if (gap !== undefined)
        yield* remaining(projection.skip({ after: Math.max(at.seq, gap.after), first: gap.first }), at)
      yield* remaining(projection.project(events), at)
    }
    yield* remaining(projection.flushSilent(this.#options.clock.now()), at)
    return projection.position
  }
}

type Replay = AsyncGenerator<readonly OutputItem[], Cursor>

function linesOf(item: OutputItem): readonly OutputLine[] {
  if (item.type === 'gap') return [{ line: `[gap] ${gapText(item.gap)}`, stream: 'stderr' }]
  return item.type === 'line' ? [item.line] : []
}

const CURSOR = /^(\d{1,15})(?:\.(\d{1,9}))?$/

/** `<seq>.<n>`, or `<seq>` alone for everything that event completed. */
function parseCursor(text: string): Cursor {
  const match = CURSOR.exec(text)
  if (match === null) {
    throw new AgentprotoError('invalid_request', 'The cursor of the stream is not valid', {
      expected: 'the id of a message, as in `12.1`',
      given: text,
    })
  }
  return { seq: Number(match[1]), n: match[2] === undefined ? Infinity : Number(match[2]) }
}

const isBefore = (a: Cursor, b: Cursor): boolean => a.seq < b.seq || (a.seq === b.seq && a.n < b.n - 1)

/** Index of the first item after a position; items are in order. */
function firstAfter(items: readonly OutputItem[], at: Cursor): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    const { seq, n } = parseCursor((items[middle] as OutputItem).cursor)
    if (seq < at.seq || (seq === at.seq && n <= at.n)) low = middle + 1
    else high = middle
  }
  return low
}

function* remaining(items: readonly OutputItem[], at: Cursor): Generator<readonly OutputItem[]> {
  const from = firstAfter(items, at)
  if (from < items.length) yield items.slice(from)
}

interface Stretch {
  readonly events: readonly SessionEvent[]
  readonly gap: EventGap | undefined
}

async function* eventsBetween(log: EventLog, from: number, to: number): AsyncGenerator<Stretch> {
  let cursor = from - 1
  while (cursor < to) {
    const { records, gap } = await log.read(cursor, BATCH * 2)
    if (records.length === 0 && gap === undefined) return
    cursor = records.at(-1)?.seq ?? (gap === undefined ? to : gap.first - 1)
    yield { events: records.map(eventOf), gap }
  }
}

/** Its cursor stands for everything before the first event that there is. */
const gapItem = (gap: EventGap): OutputItem => ({ cursor: String(gap.first - 1), type: 'gap', gap })
