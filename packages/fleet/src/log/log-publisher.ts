import { AgentprotoError, settlesWithin } from '@agentproto/contracts'
import { jetstream } from '@nats-io/jetstream'
import { Backoff } from '../cluster/backoff.js'
import { clusterError } from '../cluster/cluster.js'
import { HEADER_BYTES, lastWhole, markerOf } from './log-message.js'
import type { Follow, LogPublisherOptions } from './log-publisher-options.js'
import { LogTail } from './log-tail.js'
import { PublishPace } from './publish-pace.js'
import { PublishSlots } from './publish-slots.js'
import { type Publication, SessionPublication } from './publication.js'
import type { Publishing } from './publishing.js'
import { Reachable } from './reachable.js'
import { isConflict, storeMessage } from './store-message.js'

/** A message has at most this much of a log, so that a reader gets it soon and a slow one holds few bytes. */
const MESSAGE_BYTES = 256 * 1024
/** How long the answers to what is on its way are waited for at the end. */
const CLOSE_MS = 1_000
/** Of all sessions at once. */
const SLOTS = { messages: 32, bytes: 8 * 1024 * 1024 }

/**
 * Publishes the logs of this host's sessions to the fleet. A log is read by a follower of its own, so that nothing waits in
 * memory; how far it is published is read from the fleet's log, so that nothing about it is on the disk.
 */
export class LogPublisher {
  readonly #options: LogPublisherOptions
  readonly #publishing: Publishing
  readonly #closing = new AbortController()
  readonly #running = new Map<string, Publication>()
  /** Whether it was reported that nothing can be stored, since something was. */
  #isFailing = false
  readonly #progress = new Set<() => void>()

  constructor(options: LogPublisherOptions) {
    const { cluster, clock } = options
    this.#options = options
    this.#publishing = {
      ...options,
      jetstream: jetstream(cluster.nats),
      signatures: cluster.signatures,
      tail: new LogTail(cluster),
      slots: new PublishSlots(SLOTS),
      pace: new PublishPace(clock),
      reachable: new Reachable(cluster.nats, clock, this.#closing.signal),
      maxBytes: Math.min(MESSAGE_BYTES, cluster.maxPayload - HEADER_BYTES),
      onFailing: (why) => this.#reportFailing(why),
      onStored: () => (this.#isFailing = false),
      onProgress: () => this.#progress.forEach((look) => look()),
    }
  }

  /** How many stored events of this host are not yet in the fleet's log, as far as it is known. */
  get lag(): number {
    let lag = 0
    for (const { behind = 0 } of this.#running.values()) lag += behind
    return lag
  }

  /** Publishes a log until its session has ended, another host owns it, or it is closed. One that is published already goes on. */
  publish(sessionId: string, follow: Follow): Publication {
    const running = this.#running.get(sessionId)
    if (running !== undefined) return running
    const publication = new SessionPublication(this.#publishing, sessionId, follow)
    this.#running.set(sessionId, publication)
    void publication.done.then(() => {
      this.#running.delete(sessionId)
      this.#publishing.onProgress()
    })
    return publication
  }

  /**
   * Marks in the log that this host owns the session from here on: from then on an earlier owner can store nothing.
   * @returns the number of the last event of the earlier owners
   * @throws `cluster_unavailable`; `session_live` when a still later owner was faster
   */
  async takeOver(sessionId: string, epoch: number): Promise<number> {
    const { tail, clock } = this.#publishing
    const backoff = new Backoff(clock)
    while (!this.#closing.signal.aborted) {
      const found = await tail.last(sessionId).catch(rethrow)
      const { message: last, streamSeq: after } = found ?? { streamSeq: 0 }
      if (last !== undefined && last.epoch > epoch)
        throw new AgentprotoError('session_live', 'Another host took the session over', {
          expected: `epoch ${epoch}`,
          given: last.epoch,
        })
      const lastSeq = last === undefined ? 0 : lastWhole(last)
      if (last?.epoch === epoch) return lastSeq
      const message = markerOf('owner', epoch, lastSeq)
      const stored = await storeMessage(this.#publishing, { sessionId, message, after }).catch((error: unknown) =>
        isConflict(error) ? undefined : rethrow(error),
      )
      if (stored !== undefined && !stored.duplicate) return lastSeq
      // The earlier owner was faster.
      await backoff.wait(this.#closing.signal)
    }
    throw new AgentprotoError('shutting_down', 'The gateway is shutting down')
  }

  /** Publishes all that is stored here at once, and waits for it, at most so many milliseconds. @returns whether it is published */
  async drain(ms: number): Promise<boolean> {
    const endHurry = this.#publishing.pace.hurry()
    const drained = this.#drained()
    const isDrained = await settlesWithin(ms, drained.promise, this.#options.clock)
    drained.stop()
    endHurry()
    return isDrained
  }

  /** Ends all publications. What is on its way is waited for, not long: how far they are is read at the next start. */
  async close(): Promise<void> {
    this.#closing.abort()
    const closed = Promise.all([...this.#running.values()].map((publication) => publication.close()))
    await settlesWithin(CLOSE_MS, closed, this.#options.clock)
  }

  #reportFailing(why: string): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#options.onProblem(`The logs of this host cannot be published to the fleet now. ${why}`)
  }

  #drained(): { readonly promise: Promise<void>; readonly stop: () => void } {
    let look = (): void => undefined
    const promise = new Promise<void>((resolve) => {
      look = () => {
        // Later: a reader whose log has ended says so in the next step, and then the end is to be published, too.
        if (this.#isDrained()) setImmediate(() => this.#isDrained() && resolve())
      }
    })
    this.#progress.add(look)
    look()
    return { promise, stop: () => this.#progress.delete(look) }
  }

  #isDrained(): boolean {
    return [...this.#running.values()].every(({ behind }) => behind === 0)
  }
}

function rethrow(error: unknown): never {
  throw clusterError(error)
}
