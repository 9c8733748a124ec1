import type { ContentBlock, SessionEvent } from '@agentproto/contracts'
import { PromptQueue } from './prompt-queue.js'

/** A prompt to send now. With `interrupt` it ends the running turn; without it the gateway queues it behind one. */
export interface PromptAction {
  readonly type: 'prompt'
  readonly text: string
  readonly whenBusy?: 'interrupt'
}

/** What is not sent: prompts that shall follow the turn, and texts that wait for the person. */
export interface Leftovers {
  readonly queued: readonly string[]
  readonly unsent: readonly string[]
}

interface Sending {
  readonly text: string
  readonly isQueued: boolean
}

/** The prompts of this terminal until the session has them: at most one is on its way, the others are queued. */
export class OutgoingPrompts {
  readonly queue = new PromptQueue()
  #sending: Sending | undefined
  #isSteering = false
  /** A prompt whose sending failed. The gateway may have it all the same. */
  #doubtful: string | undefined

  /** Whether a prompt is on its way, so that the session is about to be busy. */
  get isSending(): boolean {
    return this.#sending !== undefined
  }

  /** @param line What is typed, or was cleared last */
  leftovers(line: string): Leftovers {
    const { prompts, isHeld } = this.queue
    const kept = [...(isHeld ? prompts : []), ...(line.trim() === '' ? [] : [line])]
    return { queued: isHeld ? [] : prompts, unsent: kept }
  }

  send(text: string): PromptAction {
    this.#sending = { text, isQueued: false }
    return { type: 'prompt', text }
  }

  /** Interrupts the turn for this prompt. The queue goes on after it. */
  steer(text: string): PromptAction {
    this.#sending = { text, isQueued: false }
    this.#isSteering = true
    return { type: 'prompt', text, whenBusy: 'interrupt' }
  }

  /** The next queued prompt, unless the queue waits for the person. */
  next(): PromptAction | undefined {
    if (this.isSending || this.queue.isHeld) return undefined
    const text = this.queue.next()
    if (text === undefined) return undefined
    this.#sending = { text, isQueued: true }
    return { type: 'prompt', text }
  }

  /** @returns whether it was put back into the queue; otherwise it is for the caller to keep */
  failed(text: string): boolean {
    const isQueued = this.#sending?.text === text && this.#sending.isQueued
    if (this.#sending?.text === text) this.#sending = undefined
    this.#isSteering = false
    this.#doubtful = text
    if (isQueued) this.queue.putBack(text)
    return isQueued
  }

  /** @returns a prompt that failed, and which the session has all the same: the caller may have kept it */
  apply(event: SessionEvent): string | undefined {
    if (event.type === 'user-prompt') return this.#prompted(typedText(event.content), event.sent !== false)
    if (event.type === 'turn-end' && event.reason !== 'end_turn' && !this.#isSteering) this.queue.hold()
    if (event.type === 'session-stopped') this.#stopped()
    return undefined
  }

  #prompted(text: string, isSent: boolean): string | undefined {
    this.#sending = undefined
    if (isSent) this.#isSteering = false
    const known = this.#doubtful
    if (known !== text) return undefined
    this.#doubtful = undefined
    return this.queue.dropFirst(text) ? undefined : text
  }

  /** A prompt that the gateway had accepted and not begun is lost with the session's run. */
  #stopped(): void {
    const lost = this.#sending
    this.#sending = undefined
    this.#isSteering = false
    if (lost?.isQueued === true) this.queue.putBack(lost.text)
    this.queue.hold()
  }
}

/** What a person typed, without the files that it mentions. */
export function typedText([first]: readonly ContentBlock[]): string {
  return first?.type === 'text' ? first.text : ''
}
