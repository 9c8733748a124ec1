import { AgentprotoError, type Clock, type OutputItem } from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import type { EventReader, OutputReader } from '@agentproto/contracts/wire'
import { eventOf } from '../log/event-record.js'
import { Projection } from './projection.js'

/** A place in the output: after the n-th thing that event `seq` completed. */
export interface Cursor {
  readonly seq: number
  readonly n: number
}

export interface OutputFollowerOptions {
  /** Begins with the first event of the turn that the cursor is in. */
  readonly events: EventReader
  readonly clock: Clock
  /** Whether the session has ended. */
  readonly isOver: () => boolean
  /** What the reader has had. */
  readonly after: Cursor
  /** Handed out before anything else. */
  readonly first: readonly OutputItem[]
}

/** A reader of lines by pull: it projects the events of the log, and leaves out what it has had. */
export class OutputFollower implements OutputReader {
  readonly #options: OutputFollowerOptions
  readonly #projection = new Projection()
  /** Until something follows it. */
  #after: Cursor | undefined
  /** Projected, and not handed out yet. */
  readonly #ready: (readonly OutputItem[])[]
  #closed = false

  constructor(options: OutputFollowerOptions) {
    this.#options = options
    this.#after = options.after
    this.#ready = options.first.length === 0 ? [] : [options.first]
  }

  async next(signal?: AbortSignal): Promise<readonly OutputItem[] | undefined> {
    while (!this.#closed && !(signal?.aborted ?? false)) {
      const items = this.#ready.shift()
      if (items !== undefined) return items
      const batch = await this.#read(signal)
      if (batch !== undefined) this.#project(batch)
      else if (!this.#flush()) return undefined
    }
    return undefined
  }

  close(): void {
    this.#closed = true
    this.#options.events.close()
  }

  /** The next stored events; undefined at the end, and when text has waited long enough to be a line. */
  async #read(signal: AbortSignal | undefined): Promise<EventBatch | undefined> {
    const { events, clock } = this.#options
    const { flushAt } = this.#projection
    if (flushAt === undefined) return events.next(signal)
    const stop = new AbortController()
    const abort = (): void => stop.abort()
    const timer = clock.after(Math.max(0, flushAt - clock.now()), abort)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await events.next(stop.signal)
    } finally {
      timer.cancel()
      signal?.removeEventListener('abort', abort)
    }
  }

  #project({ records, gap }: EventBatch): void {
    // The numbers go back: another host continues the session, and what the reader has had after that is void.
    if (gap !== undefined && gap.first <= gap.after) this.#after = undefined
    // Only what the reader has not had is missing to it: the turn may have begun before.
    if (gap !== undefined)
      this.#push(this.#projection.skip({ after: Math.max(this.#after?.seq ?? 0, gap.after), first: gap.first }))
    this.#push(this.#projection.project(records.map(eventOf)))
  }

  /** Nothing more is stored for now. @returns whether something may follow */
  #flush(): boolean {
    const { clock, isOver } = this.#options
    const isWaiting = this.#projection.flushAt !== undefined
    this.#push(this.#projection.flushSilent(isOver() ? Infinity : clock.now()))
    return isWaiting || !isOver()
  }

  #push(items: readonly OutputItem[]): void {
    const after = this.#after
    const left = after === undefined ? items : items.filter(({ cursor }) => isBefore(after, parseCursor(cursor)))
    if (left.length === 0) return
    this.#ready.push(left)
    this.#after = undefined
  }
}

const CURSOR = /^(\d{1,15})(?:\.(\d{1,9}))?$/

/** `<seq>.<n>`, or `<seq>` alone for everything that event completed. @throws `invalid_request` */
export function parseCursor(text: string): Cursor {
  const match = CURSOR.exec(text)
  if (match === null) {
    throw new AgentprotoError('invalid_request', 'The cursor of the stream is not valid', {
      expected: 'the id of a message, as in `12.1`',
      given: text,
    })
  }
  return { seq: Number(match[1]), n: match[2] === undefined ? Infinity : Number(match[2]) }
}

const isBefore = (a: Cursor, b: Cursor): boolean => a.seq < b.seq || (a.seq === b.seq && a.n < b.n)
