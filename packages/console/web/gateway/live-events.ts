import { isAgentprotoError, type SessionEvent } from '@agentproto/client'
import { effect } from '@preact/signals'
import type { Gateway } from './gateway.js'
import { networkChange, pause, withStream } from './network.js'
import { Slices } from './slices.js'

/** After a failure that can pass, in milliseconds. */
const RETRY_MS = 2_000
/** How often a tab asks that has no stream, in milliseconds. */
const ASK_MS = 500
/** Events of one answer. */
const PAGE = 1_000

/**
 * How a read ended. `whole`: nothing is new for now. `again`: there is more, or the network changed. `asked`: something may be
 * new soon. `away`: it failed, and can work later.
 */
type End = 'whole' | 'again' | 'asked' | 'away'

interface LiveOptions {
  readonly signal: AbortSignal
  readonly onEvent: (event: SessionEvent) => void
  readonly onGap: () => void
}

/** The events of one session as they come, until the signal aborts. */
export class LiveEvents {
  readonly #gateway: Gateway
  readonly #id: string
  readonly #options: LiveOptions
  readonly #slices = new Slices()
  #last = 0

  constructor(gateway: Gateway, id: string, options: LiveOptions) {
    this.#gateway = gateway
    this.#id = id
    this.#options = options
  }

  /**
   * The stream of a session ends with it. It is followed again when the session has more, since a prompt or a resume wakes it.
   * @throws what no later try can help, and when the signal aborts
   */
  async follow(after: number): Promise<void> {
    const { signal } = this.#options
    this.#last = after
    while (!signal.aborted) {
      const before = this.#last
      const known = Math.max(before, this.#sessionSeq())
      const end = (await withStream(() => this.#read())) ?? (await this.#ask())
      // Events that can no longer be read are not asked for again and again.
      if (end === 'whole') await this.#untilMore(this.#last === before ? known : this.#last)
      if (end === 'away') await pause(RETRY_MS, AbortSignal.any([signal, networkChange()]))
      if (end === 'asked') await pause(ASK_MS, signal)
    }
  }

  async #read(): Promise<End> {
    const network = networkChange()
    const { signal: closed, onGap } = this.#options
    const signal = AbortSignal.any([closed, network])
    try {
      const { sessions } = this.#gateway.client
      for await (const event of sessions.events(this.#id, { after: this.#last, signal, onGap }))
        await this.#apply(event)
      return 'whole'
    } catch (thrown) {
      return network.aborted && !closed.aborted ? 'again' : this.#endOf(thrown)
    }
  }

  /** Asks for what is new, where other tabs use the connections that streams may have. */
  async #ask(): Promise<End> {
    const { signal, onGap } = this.#options
    try {
      const { client, sessions } = this.#gateway
      const { events, gap } = await client.sessions.eventsPage(this.#id, this.#last, PAGE)
      signal.throwIfAborted()
      if (gap !== undefined) onGap()
      for (const event of events) await this.#apply(event)
      if (events.length === PAGE) return 'again'
      const status = sessions.value.get(this.#id)?.status
      return status === 'starting' || status === 'running' || status === undefined ? 'asked' : 'whole'
    } catch (thrown) {
      return this.#endOf(thrown)
    }
  }

  async #apply(event: SessionEvent): Promise<void> {
    this.#last = event.seq
    this.#options.onEvent(event)
    await this.#slices.pause()
  }

  #endOf(thrown: unknown): End {
    if (!this.#options.signal.aborted && canPass(thrown)) return 'away'
    throw thrown
  }

  #sessionSeq(): number {
    return this.#gateway.sessions.value.get(this.#id)?.lastSeq ?? 0
  }

  /** Until the session has an event after `seq`, or nobody follows any more. */
  #untilMore(seq: number): Promise<void> {
    const { signal } = this.#options
    return new Promise((resolve) => {
      const stop = effect(() => {
        // Not at once: an effect that ends itself while it begins has no function to call yet.
        if (this.#sessionSeq() > seq) queueMicrotask(end)
      })
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
      function end(): void {
        stop()
        signal.removeEventListener('abort', end)
        resolve()
      }
    })
  }
}

/** Does work again after a failure that can pass. @throws any other failure, and what an aborted work throws */
export async function untilItWorks<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (thrown) {
      if (signal.aborted || !canPass(thrown)) throw thrown
      await pause(RETRY_MS, AbortSignal.any([signal, networkChange()]))
    }
  }
}

const canPass = (thrown: unknown): boolean => isAgentprotoError(thrown) && thrown.row.retryable
