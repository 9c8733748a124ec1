import { ArgumentParts } from './argument-parts.js'
import { MAX_ARGUMENT_BYTES } from './call-frame.js'
import { PEER_BOUNDS } from './peer-bounds.js'

/** Where a part belongs. */
interface PartPlace {
  readonly id: string
  readonly at: number
  readonly of: number
}

/** Arguments of calls of one host that do not fit into one message, until their call begins. */
export class PeerArguments {
  readonly #now: () => number
  readonly #parts = new Map<string, ArgumentParts>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** @returns `unknown` for a part that is not the next one */
  put({ id, at, of }: PartPlace, part: Uint8Array): 'taken' | 'unknown' | 'too_large' {
    const known = this.#parts.get(id)
    const isTooMuch =
      (known?.bytes ?? 0) + part.length > MAX_ARGUMENT_BYTES || this.#held + part.length > PEER_BOUNDS.putBytes
    if (isTooMuch || this.#parts.size >= PEER_BOUNDS.calls) return 'too_large'
    const parts = known ?? new ArgumentParts(of, this.#now())
    parts.at = this.#now()
    this.#parts.set(id, parts)
    return parts.put(at, of, Uint8Array.from(part)) ? 'taken' : 'unknown'
  }

  /** All of it, which is not kept any longer; undefined while a part is missing. */
  take(id: string): Uint8Array | undefined {
    const joined = this.#parts.get(id)?.joined()
    if (joined !== undefined) this.#parts.delete(id)
    return joined
  }

  /** Drops those to which nothing came since then. */
  sweep(before: number): void {
    for (const [id, { at }] of this.#parts) if (at < before) this.#parts.delete(id)
  }

  get #held(): number {
    let held = 0
    for (const { bytes } of this.#parts.values()) held += bytes
    return held
  }
}
