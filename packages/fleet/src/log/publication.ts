import { AgentprotoError, isAgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import type { EventReader } from '@agentproto/contracts/wire'
import { JetStreamApiCodes, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream'
import { Backoff } from '../cluster/backoff.js'
import { clusterError } from '../cluster/cluster.js'
import { isDenied } from '../cluster/is-denied.js'
import { messagesOf, type Splitting } from './log-batch.js'
import { HEADER_BYTES, lastWhole, type LogMessage, NO_BODY } from './log-message.js'
import type { Follow, LogPublisherOptions } from './log-publisher-options.js'
import type { LogEnd, LogTail } from './log-tail.js'
import type { PublishPace } from './publish-pace.js'
import type { PublishSlots } from './publish-slots.js'
import type { Reachable } from './reachable.js'
import type { StoredSignatures } from '../keys/stored-signature.js'
import { storeMessage } from './store-message.js'

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

/** What the publications of a host share. */
export interface Publishing extends Omit<LogPublisherOptions, 'cluster'> {
  readonly jetstream: JetStreamClient
  readonly signatures: StoredSignatures
  readonly tail: LogTail
  readonly slots: PublishSlots
  readonly pace: PublishPace
  readonly reachable: Reachable
  /** Of the body of a message. */
  readonly maxBytes: number
  /** Messages cannot be stored, for a while already or until a person changes something. */
  readonly onFailing: (why: string) => void
  readonly onStored: () => void
  /** Something was published, or a publication ended. */
  readonly onProgress: () => void
}

/** A log with so many unpublished events does not wait for the next beat: a batch has no more. */
const FULL_BATCH = 1_024
/** Servers elect a leader in less. */
const LONG_MS = 15_000
/** So often somebody else wrote first before it is said. */
const MANY_CONFLICTS = 8

export const ownerMarker = (epoch: number, lastSeq: number): LogMessage => emptyMessage('owner', epoch, lastSeq)

const emptyMessage = (kind: 'owner' | 'end', epoch: number, lastSeq: number): LogMessage => ({
  kind,
  epoch,
  first: lastSeq + 1,
  last: lastSeq,
  body: NO_BODY,
})

/** The message on the subject is another than was expected: somebody wrote to it, or an answer was lost. */
export const isConflict = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence

/** How far the log is published: after which message of the stream the next one goes. */
interface Place {
  streamSeq: number
  /** Number of the last event that is wholly stored. */
  lastSeq: number
  /** The message there; absent in an empty log. */
  message?: LogMessage
}

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
  /** Since when no attempt succeeds. */
  #failing: { readonly since: number; readonly isReported: boolean } | undefined

  constructor(shared: Publishing, sessionId: string, follow: Follow) {
    this.#shared = shared
    this.#sessionId = sessionId
    this.#follow = follow
    this.#backoff = new Backoff(shared.clock)
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
      const marked = await this.#send(ownerMarker(epoch, place.lastSeq), place)
      if (marked !== undefined) return marked
    }
    return this.#publishAfter(place, epoch)
  }

  async #publishAfter(place: Place, epoch: number): Promise<PublicationEnd | typeof AGAIN> {
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

  async #publish(batch: EventBatch, place: Place, epoch: number): Promise<PublicationEnd | typeof AGAIN | undefined> {
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
  async #complete(place: Place, epoch: number): Promise<PublicationEnd | typeof AGAIN> {
    const { lastSeq, message } = place
    if (message?.kind === 'end') return { type: 'complete', lastSeq }
    this.#inHand = 1
    return (await this.#send(emptyMessage('end', epoch, lastSeq), place)) ?? { type: 'complete', lastSeq }
  }

  /** Where the fleet's log ends now. Waits for as long as NATS is away. */
  async #place(epoch: number): Promise<Place | PublicationEnd> {
    const { slots, tail } = this.#shared
    while (!this.#closing.signal.aborted) {
      try {
        const found = await slots.run(0, () => tail.last(this.#sessionId))
        const stored = found?.message?.epoch ?? 0
        if (stored > epoch) return this.#fenced(stored)
        return placeOf(found, this.#published)
      } catch (error) {
        if (isAgentprotoError(error)) throw error
        this.#unanswered(error)
        await this.#wait()
      }
    }
    return CLOSED
  }

  /** Stores a message after `place`, and moves that. @returns why it did not; undefined if it did */
  async #send(message: LogMessage, place: Place): Promise<PublicationEnd | typeof AGAIN | undefined> {
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
  async #attempt(message: LogMessage, place: Place): Promise<boolean | undefined> {
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
      this.#unanswered(error)
      return undefined
    }
  }

  #stored({ lastSeq }: Place): void {
    this.#failing = undefined
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

  #unanswered(error: unknown): void {
    const { clock, onFailing } = this.#shared
    this.#failing ??= { since: clock.now(), isReported: false }
    const { since, isReported } = this.#failing
    // An election of the servers ends by itself; that a right is missing does not.
    if (isReported || (clock.now() - since < LONG_MS && !isDenied(error))) return
    this.#failing = { since, isReported: true }
    onFailing(clusterError(error).message)
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

const placeOf = (found: LogEnd | undefined, published: number): Place =>
  found?.message === undefined
    ? { streamSeq: found?.streamSeq ?? 0, lastSeq: published }
    : { streamSeq: found.streamSeq, lastSeq: lastWhole(found.message), message: found.message }

/** The event of which the log ends with a part, if that is ours: it goes on there. */
function partlyStored({ message }: Place, epoch: number): Splitting['partly'] {
  if (message?.part === undefined || message.epoch !== epoch) return undefined
  const { offset, total } = message.part
  const bytes = offset + message.body.length
  return bytes === total ? undefined : { seq: message.first, bytes, total }
}

const isAhead = (there: number, here: number): AgentprotoError =>
  new AgentprotoError('storage_corrupt', "The fleet's log has events that the log of this host does not have", {
    expected: `at most ${here} events`,
    given: there,
    hint: 'A power cut can lose the last events of a host. Fork the session to go on with it.',
  })
