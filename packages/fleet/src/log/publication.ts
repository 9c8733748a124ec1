import { type AgentprotoError, isAgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import type { EventReader } from '@agentproto/contracts/wire'
import { Backoff } from '../cluster/backoff.js'
import { messagesOf } from './log-batch.js'
import { HEADER_BYTES, type LogMessage, markerOf } from './log-message.js'
import { isAhead, type LogPlace, partlyStored, placeOf } from './log-place.js'
import type { Follow } from './log-publisher-options.js'
import type { Publishing } from './publishing.js'
import { isConflict, storeMessage } from './store-message.js'
import { Unstored } from './unstored.js'

/** Why a log is not published any more. */
export type PublicationEnd =
  /** The session has ended, and all of its log is in the fleet's. */
  | { readonly type: 'complete'; readonly lastSeq: number }
  /** Another host has the session. */
  | { readonly type: 'fenced'; readonly epoch: number }
  | { readonly type: 'stopped'; readonly problem: AgentprotoError }
  | { readonly type: 'closed' }

/** The log of one session on its way to the fleet. */
export interface Publication {
  /** How many stored events are not yet published; undefined while that is not known. */
  readonly behind: number | undefined
  /** Never rejects. */
  readonly done: Promise<PublicationEnd>
  /** Resolves when nothing of it is on its way any more. Idempotent. */
  close(): Promise<void>
}

/** A log with so many unpublished events does not wait for the next beat: a batch has no more. */
const FULL_BATCH = 1_024
/** So often somebody else wrote first before it is said. */
const MANY_CONFLICTS = 8

const CLOSED: PublicationEnd = { type: 'closed' }
/** The place is not what it was thought to be: it is read again. */
const AGAIN = 'again'

export class SessionPublication implements Publication {
  readonly done: Promise<PublicationEnd>
  readonly #shared: Publishing
  readonly #sessionId: string
  readonly #follow: Follow
  readonly #closing = new AbortController()
  readonly #backoff: Backoff
  #reader: EventReader | undefined
  /** Events of the batch in hand that are not published. */
  #inHand = 0
  /** Last event that was published here: if retention empties the log meanwhile, it is not published again. */
  #published = 0
  #conflicts = 0
  #reported = ''
  readonly #unstored: Unstored

  constructor(shared: Publishing, sessionId: string, follow: Follow) {
    this.#shared = shared
    this.#sessionId = sessionId
    this.#follow = follow
    this.#backoff = new Backoff(shared.clock)
    this.#unstored = new Unstored(shared.clock, shared.onFailing)
    this.done = this.#run()
  }

  get behind(): number | undefined {
    const unread = this.#reader?.behind
    return unread === undefined ? undefined : unread + this.#inHand
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#reader?.close()
    await this.done
  }

  async #run(): Promise<PublicationEnd> {
    try {
      for (;;) {
        const end = await this.#round()
        if (end !== AGAIN) return end
        await this.#backoff.wait(this.#closing.signal)
      }
    } catch (error) {
      const problem = toAgentprotoError(error)
      // Deleted on its host, a moment before this publication is closed for it.
      if (problem.code === 'session_not_found') return CLOSED
      this.#report(`The log of session ${this.#sessionId} is not published to the fleet any more: ${problem.message}`)
      return { type: 'stopped', problem }
    } finally {
      this.#reader?.close()
      this.#reader = undefined
    }
  }

  /** Publishes from where the fleet's log ends, until that is found to be elsewhere. */
  async #round(): Promise<PublicationEnd | typeof AGAIN> {
    const epoch = this.#shared.epochOf(this.#sessionId)
    if (this.#closing.signal.aborted || epoch === undefined) return CLOSED
    const place = await this.#place(epoch)
    if (!('streamSeq' in place)) return place
    if ((place.message?.epoch ?? 1) < epoch) {
      const marked = await this.#send(markerOf('owner', epoch, place.lastSeq), place)
      if (marked !== undefined) return marked
    }
    return this.#publishAfter(place, epoch)
  }

  async #publishAfter(place: LogPlace, epoch: number): Promise<PublicationEnd | typeof AGAIN> {
    try {
      const reader = await this.#follow(place.lastSeq)
      this.#reader = reader
      this.#shared.onProgress()
      for (;;) {
        const batch = await reader.next(this.#closing.signal)
        if (this.#closing.signal.aborted) return CLOSED
        if (batch === undefined) return await this.#complete(place, epoch)
        const stopped = await this.#publish(batch, place, epoch)
        if (stopped !== undefined) return stopped
        // What grows meanwhile waits in the log, not in memory.
        if ((reader.behind ?? 0) < FULL_BATCH) await this.#shared.pace.wait(this.#closing.signal)
      }
    } catch (error) {
      if (!isAgentprotoError(error) || !error.row.retryable) throw error
      this.#report(`The log of session ${this.#sessionId} cannot be read now: ${error.message}`)
      return AGAIN
    } finally {
      this.#inHand = 0
      this.#reader?.close()
      this.#reader = undefined
    }
  }

  async #publish(
    batch: EventBatch,
    place: LogPlace,
    epoch: number,
  ): Promise<PublicationEnd | typeof AGAIN | undefined> {
    if (batch.gap !== undefined && batch.gap.first <= batch.gap.after) throw isAhead(place.lastSeq, batch.gap.first - 1)
    this.#inHand = batch.records.length
    const { maxBytes } = this.#shared
    for (const message of messagesOf(batch, { epoch, maxBytes, partly: partlyStored(place, epoch) })) {
      const stopped = await this.#send(message, place)
      if (stopped !== undefined) return stopped
      this.#inHand = Math.min(this.#inHand, (batch.records.at(-1)?.seq ?? 0) - place.lastSeq)
      this.#shared.onProgress()
    }
    this.#inHand = 0
    return undefined
  }

  /** Readers on other hosts wait for it, so that it counts as one more event to publish. */
  async #complete(place: LogPlace, epoch: number): Promise<PublicationEnd | typeof AGAIN> {
    const { lastSeq, message } = place
    if (message?.kind === 'end') return { type: 'complete', lastSeq }
    this.#inHand = 1
    return (await this.#send(markerOf('end', epoch, lastSeq), place)) ?? { type: 'complete', lastSeq }
  }

  /** Where the fleet's log ends now. Waits for as long as NATS is away. */
  async #place(epoch: number): Promise<LogPlace | PublicationEnd> {
    const { slots, tail } = this.#shared
    while (!this.#closing.signal.aborted) {
      try {
        const found = await slots.run(0, () => tail.last(this.#sessionId))
        const stored = found?.message?.epoch ?? 0
        if (stored > epoch) return this.#fenced(stored)
        return placeOf(found, this.#published)
      } catch (error) {
        if (isAgentprotoError(error)) throw error
        this.#unstored.failed(error)
        await this.#wait()
      }
    }
    return CLOSED
  }

  /** Stores a message after `place`, and moves that. @returns why it did not; undefined if it did */
  async #send(message: LogMessage, place: LogPlace): Promise<PublicationEnd | typeof AGAIN | undefined> {
    const size = message.body.length + HEADER_BYTES
    while (!this.#closing.signal.aborted) {
      const epoch = this.#shared.epochOf(this.#sessionId)
      if (epoch !== message.epoch) return epoch === undefined ? CLOSED : AGAIN
      const isAnswered = await this.#shared.slots.run(size, () => this.#attempt(message, place))
      if (isAnswered !== undefined) return isAnswered ? undefined : AGAIN
      await this.#wait()
    }
    return CLOSED
  }

  /** @returns whether it is stored; undefined if that is not known, or it may not be stored now */
  async #attempt(message: LogMessage, place: LogPlace): Promise<boolean | undefined> {
    // In one step with the publish: between them the lease could end.
    if (!this.#shared.mayWrite(this.#sessionId)) return undefined
    try {
      const { seq, duplicate } = await storeMessage(this.#shared, {
        sessionId: this.#sessionId,
        message,
        after: place.streamSeq,
      })
      // A duplicate may be one that retention has removed: only the log itself says what it has.
      if (duplicate) return this.#conflict()
      Object.assign(place, placeOf({ streamSeq: seq, message }, 0))
      this.#stored(place)
      return true
    } catch (error) {
      if (isConflict(error)) return this.#conflict()
      this.#unstored.failed(error)
      return undefined
    }
  }

  #stored({ lastSeq }: LogPlace): void {
    this.#unstored.stored()
    this.#shared.onStored()
    this.#published = lastSeq
    this.#conflicts = 0
    this.#reported = ''
    this.#backoff.reset()
  }

  /** Most often the answer to our own message was lost. */
  #conflict(): false {
    this.#conflicts += 1
    if (this.#conflicts === MANY_CONFLICTS)
      this.#report(`Session ${this.#sessionId} cannot be published to the fleet now: its log there changes meanwhile.`)
    return false
  }

  async #wait(): Promise<void> {
    await this.#shared.reachable.wait(this.#closing.signal)
    await this.#backoff.wait(this.#closing.signal)
  }

  #fenced(epoch: number): PublicationEnd {
    this.#shared.onFenced(this.#sessionId, epoch)
    return { type: 'fenced', epoch }
  }

  /** A problem that comes with every attempt is said once. */
  #report(problem: string): void {
    if (this.#reported === problem) return
    this.#reported = problem
    this.#shared.onProblem(problem)
  }
}
