import type { SessionEvent, TurnEndReason, TurnResult } from '@agentproto/contracts'

/** Adds up one turn from its events, the first of which is its prompt. */
export class TurnAccount {
  readonly #number: number
  readonly #startedAt: string
  readonly #firstSeq: number
  readonly #texts: string[] = []
  #error: string | undefined

  constructor(first: SessionEvent, number: number) {
    this.#number = number
    this.#startedAt = first.ts
    this.#firstSeq = first.seq
  }

  /** @returns the result, once the event is the turn's last one */
  take(event: SessionEvent): TurnResult | undefined {
    if (event.turn !== this.#number) return undefined
    if (event.type === 'text-delta') this.#texts.push(event.text)
    if (event.type === 'error') this.#error = event.message
    return event.type === 'turn-end' ? this.#result(event) : undefined
  }

  #result({ ts, seq, reason, empty }: EndOfTurn): TurnResult {
    return {
      number: this.#number,
      state: 'ended',
      startedAt: this.#startedAt,
      endedAt: ts,
      reason,
      ...(empty === undefined ? {} : { empty }),
      firstSeq: this.#firstSeq,
      lastSeq: seq,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      text: this.#texts.join(''),
    }
  }
}

interface EndOfTurn {
  readonly ts: string
  readonly seq: number
  readonly reason: TurnEndReason
  readonly empty?: boolean
}
