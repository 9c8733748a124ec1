import { fromProblem, isAgentprotoError } from '@agentproto/contracts'
import type { EventSourceMessage } from 'eventsource-parser'
import type { OnConnectionState } from './connection-state.js'
import { cancelled, unreachable } from './connection-error.js'
import { readEventStream } from './event-stream.js'
import { pause } from './pause.js'
import type { Call } from './operation-call.js'
import type { Transport } from './transport.js'
import { untilAborted } from './until-aborted.js'

/** One event stream of the gateway that is to be followed for as long as it lasts. */
export interface Feed<T> {
  readonly call: Call
  /** Id of the last message that was handed out; `take` moves it. */
  cursor: string | undefined
  /** What a message means: the items to hand out, none for one that is unknown or was seen before. */
  take(message: EventSourceMessage): readonly T[]
  /** Whether the stream is complete when the gateway closes it now; otherwise it was cut off. */
  isComplete(): boolean
  /** Told when the connection comes and goes. */
  readonly onState?: OnConnectionState | undefined
  /** Items to hand out after each connect, before the stream's own. */
  onConnect?(): Promise<readonly T[]>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * Hands out a feed's items; after a dropped connection it resumes after the last id. A first connection
 * that fails throws at once; a later one is tried again for `reconnectMs`.
 * @throws `cancelled` when the call's signal aborts, `daemon_not_running`, and what the gateway answers
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

/** Hands out what one connection brings. @returns whether the feed is complete; otherwise it was cut off */
async function* oneConnection<T>(transport: Transport, feed: Feed<T>, outage: Outage): AsyncGenerator<T, boolean> {
  const { signal } = feed.call
  const response = await transport.stream(feed.call, feed.cursor)
  outage.connected()
  if (response.status === 204) {
    // Nothing is left and nothing will come. The body is let go, or the connection would be held.
    await response.body?.getReader().cancel()
    return true
  }
  if (feed.onConnect !== undefined) yield* await untilAborted(feed.onConnect(), signal)
  for await (const messages of readEventStream(response, { ...transport.settings, signal })) {
    outage.over()
    yield* itemsOf(feed, messages)
  }
  signal?.throwIfAborted()
  return feed.isComplete()
}

/** What messages mean to a feed. @throws the problem that one of them tells */
export function* itemsOf<T>(feed: Feed<T>, messages: readonly EventSourceMessage[]): Generator<T> {
  for (const message of messages) {
    if (message.event === 'problem') throw fromProblem(parsed(message.data))
    yield* feed.take(message)
  }
}

/** A throw of a listener that the caller gave: none of the connection's, so that nothing is tried again. */
export class ListenerFailure extends Error {
  constructor(cause: unknown) {
    super('A listener threw', { cause })
  }
}

/** The time since a stream was last seen alive, and when to stop hoping. */
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

  /** Something came in: only now is the outage over, as a gateway may accept and close at once. */
  over(): void {
    this.#since = undefined
    this.#attempt = 0
    this.#pauseMs = FIRST_PAUSE_MS
  }

  /** Notes a failure; throws where trying again cannot help. */
  add(thrown: unknown): void {
    if (isAgentprotoError(thrown) && !thrown.row.retryable) throw thrown
    const { url } = this.#transport
    const { reconnectMs, clock } = this.#transport.settings
    this.#since ??= clock.now()
    const awayMs = clock.now() - this.#since
    const hopeless = thrown !== undefined && !this.#connectedOnce
    if (hopeless || awayMs >= reconnectMs) throw isAgentprotoError(thrown) ? thrown : unreachable(url, thrown)
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

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
