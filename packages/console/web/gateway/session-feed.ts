import { isAgentprotoError, type SessionEvent } from '@agentproto/client'
import { effect, signal } from '@preact/signals'
import { TranscriptModel } from '../transcript/transcript.js'
import type { Gateway } from './gateway.js'
import { networkChange, pause, withStream } from './network.js'

/** After a failure that can pass, in milliseconds. */
const RETRY_MS = 2_000
/** How often a tab asks that has no stream, in milliseconds. */
const ASK_MS = 500
/** Events of one answer. */
const PAGE = 1_000

/**
 * How a read ended. `whole`: nothing is new for now. `again`: there is more, or the network changed. `asked`: something may be
 * new soon. `away`: it failed, and can work later. `broken`: it cannot, or the feed is closed.
 */
type End = 'whole' | 'again' | 'asked' | 'away' | 'broken'

/** The transcript of one session, live. `frame` grows at most once per frame of the screen, however fast events come. */
export class SessionFeed {
  readonly transcript = new TranscriptModel()
  readonly frame = signal(0)
  readonly problem = signal('')
  readonly #abort = new AbortController()
  #isDrawing = false

  constructor(gateway: Gateway, id: string) {
    void this.#follow(gateway, id)
  }

  close(): void {
    this.#abort.abort()
  }

  /** The stream of a session ends with it. It is followed again when the session has more, since a prompt or a resume wakes it. */
  async #follow(gateway: Gateway, id: string): Promise<void> {
    for (;;) {
      const before = this.transcript.lastSeq
      const known = Math.max(before, gateway.sessions.value.get(id)?.lastSeq ?? 0)
      const end = (await withStream(() => this.#read(gateway, id))) ?? (await this.#ask(gateway, id))
      if (end === 'broken') return
      const now = this.transcript.lastSeq
      // Events that can no longer be read are not asked for again and again.
      if (end === 'whole') await this.#untilMore(gateway, id, now === before ? known : now)
      if (end === 'away') await pause(RETRY_MS, AbortSignal.any([this.#abort.signal, networkChange()]))
      if (end === 'asked') await pause(ASK_MS, this.#abort.signal)
    }
  }

  async #read({ client }: Gateway, id: string): Promise<End> {
    const network = networkChange()
    const signal = AbortSignal.any([this.#abort.signal, network])
    const { lastSeq: after } = this.transcript
    try {
      for await (const event of client.sessions.events(id, { after, signal, onGap: () => this.#onGap() }))
        this.#apply(event)
      return 'whole'
    } catch (thrown) {
      return network.aborted && !this.#abort.signal.aborted ? 'again' : this.#endOf(thrown)
    }
  }

  /** Asks for what is new, where other tabs use the connections that streams may have. */
  async #ask({ client, sessions }: Gateway, id: string): Promise<End> {
    try {
      const { events, gap } = await client.sessions.eventsPage(id, this.transcript.lastSeq, PAGE)
      if (this.#abort.signal.aborted) return 'broken'
      if (gap !== undefined) this.#onGap()
      for (const event of events) this.#apply(event)
      if (events.length === PAGE) return 'again'
      const status = sessions.value.get(id)?.status
      return status === 'starting' || status === 'running' || status === undefined ? 'asked' : 'whole'
    } catch (thrown) {
      return this.#endOf(thrown)
    }
  }

  #apply(event: SessionEvent): void {
    this.transcript.apply(event)
    this.#draw()
  }

  #onGap(): void {
    this.problem.value = 'Some events cannot be read any more.'
  }

  #endOf(thrown: unknown): End {
    if (this.#abort.signal.aborted) return 'broken'
    if (isAgentprotoError(thrown) && thrown.row.retryable) return 'away'
    this.problem.value = thrown instanceof Error ? thrown.message : String(thrown)
    return 'broken'
  }

  /** Until the session has an event after `seq`, or this feed is closed. */
  #untilMore({ sessions }: Gateway, id: string, seq: number): Promise<void> {
    const { signal: aborted } = this.#abort
    return new Promise((resolve) => {
      const stop = effect(() => {
        // Not at once: an effect that ends itself while it begins has no function to call yet.
        if ((sessions.value.get(id)?.lastSeq ?? 0) > seq) queueMicrotask(end)
      })
      aborted.addEventListener('abort', end)
      if (aborted.aborted) end()
      function end(): void {
        stop()
        aborted.removeEventListener('abort', end)
        resolve()
      }
    })
  }

  #draw(): void {
    if (this.#isDrawing) return
    this.#isDrawing = true
    requestAnimationFrame(() => {
      this.#isDrawing = false
      this.frame.value++
    })
  }
}
