import { isAgentprotoError } from '@agentproto/client'
import { effect, signal } from '@preact/signals'
import { TranscriptModel } from '../transcript/transcript.js'
import type { Gateway } from './gateway.js'

/** After a failure that can pass, in milliseconds. */
const RETRY_MS = 2_000

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
      const known = Math.max(this.transcript.lastSeq, gateway.sessions.value.get(id)?.lastSeq ?? 0)
      const before = this.transcript.lastSeq
      const end = await this.#read(gateway, id)
      if (end === 'broken') return
      if (end === 'away') await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      // Events that can no longer be read are not asked for again and again.
      else await this.#untilMore(gateway, id, this.transcript.lastSeq === before ? known : this.transcript.lastSeq)
    }
  }

  /** @returns `whole`: there is nothing more for now. `away`: it failed, and can work later. `broken`: it cannot, or is closed. */
  async #read({ client }: Gateway, id: string): Promise<'whole' | 'away' | 'broken'> {
    const { signal: aborted } = this.#abort
    const onGap = (): void => void (this.problem.value = 'Some events cannot be read any more.')
    try {
      for await (const event of client.sessions.events(id, {
        after: this.transcript.lastSeq,
        signal: aborted,
        onGap,
      })) {
        this.transcript.apply(event)
        this.#draw()
      }
      return 'whole'
    } catch (thrown) {
      if (aborted.aborted) return 'broken'
      if (isAgentprotoError(thrown) && thrown.row.retryable) return 'away'
      this.problem.value = thrown instanceof Error ? thrown.message : String(thrown)
      return 'broken'
    }
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
