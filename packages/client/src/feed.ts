import { fromProblem, isAgentprotoError, parseJson, pause } from '@agentproto/contracts'
import type { EventSourceMessage } from 'eventsource-parser'
import type { OnConnectionState } from './connection-state.js'
import { cancelled, unreachable } from './connection-error.js'
import { readEventStream } from './event-stream.js'
import type { Call } from './operation-call.js'
import type { Transport } from './transport.js'
import { untilAborted } from './until-aborted.js'

/** One event stream of the gateway to follow. */
export interface Feed<T> {
  readonly call: Call
  /** Id of the last message that was returned; `apply` updates it. */
  cursor: string | undefined
  /** The items of a message; none if it is unknown or was seen before. */
  apply(message: EventSourceMessage): readonly T[]
  /** Whether the stream is complete if the gateway closes it now; otherwise it was cut off. */
  isComplete(): boolean
  /** Receives changes of the connection. */
  readonly onState?: OnConnectionState | undefined
  /** Items to return after each connect, before those of the stream. */
  onConnect?(): Promise<readonly T[]>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * Returns the items of a feed, and resumes after the last id if the connection drops. A failed first connection throws at once, unless
 * calls wait for the gateway too; later ones are retried for `reconnectMs`.
 * @throws `cancelled` when the signal aborts, `daemon_not_running`, and the errors of the gateway
 */
export async function* follow<T>(transport: Transport, feed: Feed<T>): AsyncGenerator<T> {
  const { signal } = feed.call
  const outage = new Outage(transport, feed.onState)
  for (;;) {
    try {
      if (yield* oneConnection(transport, feed, outage)) return
      outage.add(undefined)
    } catch (thrown) {
      if (signal?.aborted) throw cancelled(thrown)
      if (thrown instanceof ListenerFailure) throw thrown.cause
      outage.add(thrown)
    }
    await outage.wait(signal)
    if (signal?.aborted) throw cancelled(signal.reason)
  }
}

/** Returns the items of one connection. @returns whether the feed is complete; otherwise it was cut off */
async function* oneConnection<T>(transport: Transport, feed: Feed<T>, outage: Outage): AsyncGenerator<T, boolean> {
  const { signal } = feed.call
  const response = await transport.stream(feed.call, feed.cursor)
  outage.connected()
  if (response.status === 204) {
    // The stream is at its end. The body is cancelled, since it would keep the connection.
    await response.body?.getReader().cancel()
    return true
  }
  if (feed.onConnect !== undefined) yield* await untilAborted(feed.onConnect(), signal)
  for await (const messages of readEventStream(response, { ...transport.settings, signal })) {
    outage.end()
    yield* itemsOf(feed, messages)
  }
  signal?.throwIfAborted()
  return feed.isComplete()
}

/** The items of messages. @throws the error of a `problem` message */
export function* itemsOf<T>(feed: Feed<T>, messages: readonly EventSourceMessage[]): Generator<T> {
  for (const message of messages) {
    if (message.event === 'problem') throw fromProblem(parseJson(message.data))
    yield* feed.apply(message)
  }
}

/** An error of a listener of the caller: not one of the connection, so nothing is retried. */
export class ListenerFailure extends Error {
  constructor(cause: unknown) {
    super('A listener threw', { cause })
  }
}

/** The time since the connection broke, and the limit of retries. */
class Outage {
  readonly #transport: Transport
  readonly #onState: OnConnectionState | undefined
  #connectedOnce = false
  #since: number | undefined
  #attempt = 0
  #pauseMs = FIRST_PAUSE_MS

  constructor(transport: Transport, onState: OnConnectionState | undefined) {
    this.#transport = transport
    this.#onState = onState
  }

  connected(): void {
    this.#connectedOnce = true
    this.#onState?.({ state: 'connected', url: this.#transport.url })
  }

  /** Data arrived: only now the outage is over, since a gateway may accept and close at once. */
  end(): void {
    this.#since = undefined
    this.#attempt = 0
    this.#pauseMs = FIRST_PAUSE_MS
  }

  /** Records a failure; throws if a retry cannot help. */
  add(thrown: unknown): void {
    if (isAgentprotoError(thrown) && !thrown.row.retryable) throw thrown
    const { url } = this.#transport
    const { reconnectMs, clock } = this.#transport.settings
    this.#since ??= clock.now()
    const awayMs = clock.now() - this.#since
    const isHopeless = thrown !== undefined && !this.#connectedOnce && !this.#transport.isWaiting
    if (isHopeless || awayMs >= reconnectMs) throw isAgentprotoError(thrown) ? thrown : unreachable(url, thrown)
    const cause = thrown === undefined ? {} : { cause: thrown }
    this.#onState?.({ state: 'reconnecting', url, attempt: this.#attempt, awayMs, ...cause })
    this.#attempt++
  }

  async wait(signal: AbortSignal | undefined): Promise<void> {
    const ms = this.#pauseMs
    this.#pauseMs = Math.min(ms * 2, LONGEST_PAUSE_MS)
    await pause(this.#transport.settings.clock, ms, signal)
    if (signal?.aborted !== true) await this.#transport.relocate(signal)
  }
}
