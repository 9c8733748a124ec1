import { isAgentprotoError } from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import type { EventReader, Reader } from '@agentproto/contracts/wire'

interface FollowSources {
  /** Opens a reader at the owner; undefined while that is not heard from. */
  readonly atOwner: (after: number) => Promise<Reader<EventBatch> | undefined>
  /** Of the fleet's log. */
  readonly inLog: (after: number) => Reader<EventBatch>
}

/**
 * Follows a session of another host: at its owner, and in the fleet's log from where that was lost. The log goes on when the owner
 * is back, or when another host has the session.
 */
export async function fleetFollow(sources: FollowSources, after: number): Promise<EventReader> {
  const follow = new FleetFollow(sources, after)
  await follow.open()
  return follow
}

class FleetFollow implements EventReader {
  readonly #sources: FollowSources
  #after: number
  #reader: Reader<EventBatch> | undefined
  #isInLog = false
  #closed = false

  constructor(sources: FollowSources, after: number) {
    this.#sources = sources
    this.#after = after
  }

  /** @throws what the owner throws, such as `session_not_found` */
  async open(): Promise<void> {
    this.#reader = (await this.#atOwner()) ?? this.#inLog()
  }

  async next(signal?: AbortSignal): Promise<EventBatch | undefined> {
    while (!this.#closed) {
      try {
        const reader = (this.#reader ??= this.#inLog())
        const batch = await reader.next(signal)
        if (batch === undefined) return undefined
        const news = this.#newsOf(batch)
        if (news.records.length > 0 || news.gap !== undefined) return news
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

  async #atOwner(): Promise<Reader<EventBatch> | undefined> {
    try {
      return await this.#sources.atOwner(this.#after)
    } catch (thrown) {
      if (isUnreachable(thrown)) return undefined
      throw thrown
    }
  }

  #inLog(): Reader<EventBatch> {
    this.#isInLog = true
    return this.#sources.inLog(this.#after)
  }

  /**
   * What was read before is left out. A gap says where the numbers go on; also with earlier ones, when another host has the session
   * and the last events of its owner were never published.
   */
  #newsOf(batch: EventBatch): EventBatch {
    const { records, gap } = batch
    const after = gap === undefined ? this.#after : gap.first - 1
    const news = records.filter(({ seq }) => seq > after)
    this.#after = news.at(-1)?.seq ?? after
    return gap === undefined ? { records: news } : { records: news, gap }
  }
}

export const isUnreachable = (thrown: unknown): boolean =>
  isAgentprotoError(thrown) && thrown.code === 'host_unreachable'
