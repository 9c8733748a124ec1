import { type SessionEvent, type TurnEnd, TurnParts, type TurnResult, type UserPrompt } from '@agentproto/contracts'

/** Adds up one turn from its events, the first of which is its prompt. */
export class TurnAccount {
  readonly #number: number
  readonly #parts = new TurnParts()
  #begin: Pick<TurnResult, 'startedAt' | 'firstSeq' | 'queuedAt' | 'sent'>
  #error: string | undefined

  constructor(first: SessionEvent, number: number) {
    this.#number = number
    this.#begin = { startedAt: first.ts, firstSeq: first.seq }
  }

  /** @returns the result, once the event is the turn's last one */
  take(event: SessionEvent): TurnResult | undefined {
    if (event.turn !== this.#number) return undefined
    this.#parts.take(event)
    if (event.type === 'user-prompt') this.#begin = beginning(event)
    if (event.type === 'error') this.#error = event.message
    return event.type === 'turn-end' ? this.#result(event) : undefined
  }

  #result({ ts, seq, reason, empty, usage }: TurnEnd & Place): TurnResult {
    return {
      number: this.#number,
      state: 'ended',
      ...this.#begin,
      endedAt: ts,
      durationMs: Math.max(0, Date.parse(ts) - Date.parse(this.#begin.startedAt)),
      reason,
      ...(empty === undefined ? {} : { empty }),
      ...(usage === undefined ? {} : { usage }),
      lastSeq: seq,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      ...this.#parts.output(),
    }
  }
}

interface Place {
  readonly seq: number
  readonly ts: string
}

const beginning = ({
  seq,
  ts,
  queuedAt,
  sent,
}: UserPrompt & Place): Pick<TurnResult, 'startedAt' | 'firstSeq' | 'queuedAt' | 'sent'> => ({
  startedAt: ts,
  firstSeq: seq,
  ...(queuedAt === undefined ? {} : { queuedAt }),
  ...(sent === undefined ? {} : { sent }),
})
