import type { SessionEvent } from './event-log.js'
import { defined } from './json.js'
import type { UserPrompt } from './host-event.js'
import type { TurnEnd } from './stream-event.js'
import { TurnParts } from './turn-parts.js'
import type { TurnResult } from './wire/session-responses.js'

type Beginning = Pick<TurnResult, 'startedAt' | 'firstSeq' | 'queuedAt' | 'sent'>
type Stored<T> = T & Pick<SessionEvent, 'seq' | 'ts'>

/** Collects the events of one turn into its result. The first event that is added is the prompt of the turn. */
export class TurnCollector {
  readonly #number: number
  readonly #parts = new TurnParts()
  #beginning: Beginning | undefined
  #last: Pick<SessionEvent, 'seq' | 'ts'> | undefined
  #error: string | undefined

  constructor(number: number) {
    this.#number = number
  }

  /** Ignores events of other turns. @returns the result when the event is the last one of the turn */
  add(event: SessionEvent): TurnResult | undefined {
    // The end of the session also ends its turn; it belongs to no turn.
    if (event.type === 'session-stopped') this.#error ??= event.failure?.summary
    else if (event.turn !== this.#number) return undefined
    this.#last = event
    this.#beginning ??= { startedAt: event.ts, firstSeq: event.seq }
    this.#parts.add(event)
    if (event.type === 'user-prompt') this.#beginning = beginningOf(event)
    if (event.type === 'error') this.#error = event.message
    return event.type === 'turn-end' ? this.#result(event) : undefined
  }

  /** The turn so far, as if it ended with the last event that was added. */
  soFar(): TurnResult {
    const { ts: endedAt = '', seq: lastSeq = 0 } = this.#last ?? {}
    const { startedAt, ...beginning } = this.#beginning ?? { startedAt: endedAt, firstSeq: lastSeq }
    return {
      number: this.#number,
      state: 'ended',
      startedAt,
      ...beginning,
      endedAt,
      durationMs: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) || 0,
      lastSeq,
      ...defined({ error: this.#error }),
      ...this.#parts.output(),
    }
  }

  #result({ reason, empty, usage }: TurnEnd): TurnResult {
    return { ...this.soFar(), reason, ...defined({ empty, usage }) }
  }
}

const beginningOf = ({ seq, ts, queuedAt, sent }: Stored<UserPrompt>): Beginning =>
  defined({ startedAt: ts, firstSeq: seq, queuedAt, sent })
