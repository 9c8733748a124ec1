import type { Principal } from './principal.js'

interface Place {
  readonly end: () => void
}

/** What one principal holds, in the order in which it was taken. */
interface Holding {
  readonly type: Principal['type']
  readonly places: Set<Place>
}

/**
 * A bounded number of places, such as open streams, that principals share. Of all places
 *
 * - one principal other than the owner has at most an eighth,
 * - the named tokens together have at most a half, and the agents together a quarter,
 * - an eighth is kept for the agents; the owner may use all others.
 *
 * When the places of a kind are taken, the principal that has the most gives one up for one that has fewer, and a named
 * token gives one up for the owner. So no caller is locked out, however many tokens or agents work together.
 */
export class FairShares {
  /** The places of one principal other than the owner. */
  readonly each: number
  /** Of one kind together. */
  readonly #most: Readonly<Record<Principal['type'], number>>
  /** Of the owner and the named tokens together. */
  readonly #mostBesideAgents: number
  /** By the principal's name, which is unique. */
  readonly #holdings = new Map<string, Holding>()
  readonly #counts: Record<Principal['type'], number> = { owner: 0, token: 0, session: 0 }

  /** @param max Number of all places, at least 1 */
  constructor(max: number) {
    const part = (divisor: number): number => Math.max(1, Math.floor(max / divisor))
    this.each = part(8)
    this.#most = { owner: max, token: part(2), session: part(4) }
    this.#mostBesideAgents = max - Math.floor(max / 8)
  }

  /**
   * @param end Ends what uses the place, when another principal gets it
   * @returns A function that gives the place back, idempotent; undefined if there is none for this principal
   */
  take({ name, type }: Principal, end: () => void): (() => void) | undefined {
    const holding = this.#holdings.get(name) ?? { type, places: new Set() }
    if (type !== 'owner' && holding.places.size >= this.each) return undefined
    while (!this.#isFree(type)) if (!this.#makeRoom(holding)) return undefined
    const place = { end }
    holding.places.add(place)
    this.#holdings.set(name, holding)
    this.#counts[type]++
    return () => this.#leave(name, holding, place)
  }

  #isFree(type: Principal['type']): boolean {
    const { owner, token, session } = this.#counts
    if (this.#counts[type] >= this.#most[type] || owner + token + session >= this.#most.owner) return false
    return type === 'session' || owner + token < this.#mostBesideAgents
  }

  /** Ends the newest place of the principal that has the most. @returns whether there was one that must give one up */
  #makeRoom({ type, places }: Holding): boolean {
    const [name, most] = this.#largest(type === 'owner' ? 'token' : type) ?? []
    const newest = [...(most?.places ?? [])].at(-1)
    if (name === undefined || most === undefined || newest === undefined) return false
    if (type !== 'owner' && most.places.size <= places.size + 1) return false
    this.#leave(name, most, newest)
    newest.end()
    return true
  }

  #largest(type: Principal['type']): readonly [name: string, Holding] | undefined {
    let largest: readonly [string, Holding] | undefined
    for (const entry of this.#holdings)
      if (entry[1].type === type && entry[1].places.size > (largest?.[1].places.size ?? 0)) largest = entry
    return largest
  }

  #leave(name: string, holding: Holding, place: Place): void {
    if (!holding.places.delete(place)) return
    this.#counts[holding.type]--
    if (holding.places.size === 0) this.#holdings.delete(name)
  }
}
