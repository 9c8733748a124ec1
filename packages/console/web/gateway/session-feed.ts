import { type Client, isAgentprotoError } from '@agentproto/client'
import { signal } from '@preact/signals'
import { TranscriptModel } from '../transcript/transcript.js'

/** The transcript of one session, live. `frame` grows at most once per frame of the screen, however fast events come. */
export class SessionFeed {
  readonly transcript = new TranscriptModel()
  readonly frame = signal(0)
  readonly problem = signal('')
  readonly #abort = new AbortController()
  #isDrawing = false

  constructor(client: Client, id: string) {
    void this.#follow(client, id)
  }

  close(): void {
    this.#abort.abort()
  }

  async #follow(client: Client, id: string): Promise<void> {
    const { signal: aborted } = this.#abort
    const onGap = (): void => void (this.problem.value = 'Some events cannot be read any more.')
    try {
      for await (const event of client.sessions.events(id, { signal: aborted, onGap })) {
        this.transcript.apply(event)
        this.#draw()
      }
    } catch (thrown) {
      if (!aborted.aborted) this.problem.value = isAgentprotoError(thrown) ? thrown.message : String(thrown)
    }
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
