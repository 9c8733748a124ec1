import { isAgentprotoError } from '@agentproto/contracts'
import type { Reader } from '@agentproto/contracts/wire'

/** What of a batch was not read before, and the place after it. */
export interface News<T, P> {
  /** Absent for nothing. */
  readonly news?: T
  readonly after: P
}

/** @typeParam P a place: what a reader has had */
interface FollowSources<T, P> {
  /** Opens a reader at the owner; undefined while that is not heard from. */
  readonly atOwner: (after: P) => Promise<Reader<T> | undefined>
  /** Of the fleet's log. */
  readonly inLog: (after: P) => Promise<Reader<T>>
  readonly newsOf: (batch: T, after: P) => News<T, P>
}

/**
 * Follows a session of another host: at its owner, and in the fleet's log from where that was lost. The log goes on when the owner
 * is back, or when another host has the session.
 */
export async function fleetFollow<T, P>(sources: FollowSources<T, P>, after: P): Promise<Reader<T>> {
  const follow = new FleetFollow(sources, after)
  await follow.open()
  return follow
}

class FleetFollow<T, P> implements Reader<T> {
  readonly #sources: FollowSources<T, P>
  #after: P
  #reader: Reader<T> | undefined
  #isInLog = false
  #closed = false

  constructor(sources: FollowSources<T, P>, after: P) {
    this.#sources = sources
    this.#after = after
  }

  /** @throws what the owner throws, such as `session_not_found` */
  async open(): Promise<void> {
    this.#reader = (await this.#atOwner()) ?? (await this.#inLog())
  }

  async next(signal?: AbortSignal): Promise<T | undefined> {
    while (!this.#closed) {
      try {
        const reader = this.#reader ?? (await this.#inLog())
        const batch = await reader.next(signal)
        if (batch === undefined) return undefined
        const { news, after } = this.#sources.newsOf(batch, this.#after)
        this.#after = after
        if (news !== undefined) return news
      } catch (thrown) {
        if (this.#isInLog || !isUnreachable(thrown)) throw thrown
        this.#reader?.close()
        this.#reader = undefined
      }
    }
    return undefined
  }

  close(): void {
    this.#closed = true
    this.#reader?.close()
  }

  async #atOwner(): Promise<Reader<T> | undefined> {
    try {
      return await this.#sources.atOwner(this.#after)
    } catch (thrown) {
      if (isUnreachable(thrown)) return undefined
      throw thrown
    }
  }

  async #inLog(): Promise<Reader<T>> {
    this.#isInLog = true
    const reader = await this.#sources.inLog(this.#after)
    // It may have been closed meanwhile.
    if (this.#closed) reader.close()
    return (this.#reader = reader)
  }
}

export const isUnreachable = (thrown: unknown): boolean =>
  isAgentprotoError(thrown) && thrown.code === 'host_unreachable'
