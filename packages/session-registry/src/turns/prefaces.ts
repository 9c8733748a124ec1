import type { ContentBlock, PromptPreface, SessionEvent } from '@agentproto/contracts'
import type { SessionRecord } from '../records/session-record.js'

/**
 * What the agent has to be told once before a prompt: the instructions of the spawn where it has no channel for them,
 * and the transcript of a conversation that it does not know. It counts as told when the turn has ended in which it
 * was; what no agent has seen is told again.
 */
export class Prefaces {
  readonly #record: SessionRecord
  readonly #instructions: string | undefined
  #transcript: string | undefined
  /** Kinds that the running turn's prompt began with. */
  #offered: readonly PromptPreface['kind'][] = []
  #sent = false

  constructor(record: SessionRecord, instructions: string | undefined) {
    this.#record = record
    this.#instructions = instructions
  }

  /** The agent has been started: with a conversation that it knows, or with one that it has to be told. */
  started({ byChannel, knows, transcript }: Started): void {
    this.#transcript = transcript
    if (this.#instructions === undefined) return
    if (byChannel) this.#record.instructed('channel')
    else if (!knows || this.#record.instructedBy !== 'prompt') this.#record.instructed('pending')
  }

  /** What goes before the next prompt. */
  next(): readonly PromptPreface[] {
    const told = this.#record.instructedBy !== 'pending'
    return [
      ...(this.#instructions === undefined || told
        ? []
        : [{ kind: 'instructions' as const, text: this.#instructions }]),
      ...(this.#transcript === undefined ? [] : [{ kind: 'transcript' as const, text: this.#transcript }]),
    ]
  }

  /** Follows a stored event. */
  follow(event: SessionEvent): void {
    if (event.type === 'user-prompt') {
      this.#offered = event.preface?.map(({ kind }) => kind) ?? []
      this.#sent = false
    }
    if (event.type !== 'turn-end' || this.#offered.length === 0) return
    // A prompt that failed at once may not have reached what the agent remembers.
    if (this.#sent && (event.reason !== 'error' || event.empty !== true)) this.#told()
    this.#offered = []
  }

  /** Follows an event of a host that is gone, which had sent what it logged, as far as one can know. */
  replay(event: SessionEvent): void {
    this.follow(event)
    if (event.type === 'user-prompt') this.#sent = event.sent !== false
  }

  /** The prompt that was logged last goes to the agent now. */
  sent(): void {
    this.#sent = true
  }

  #told(): void {
    if (this.#offered.includes('instructions')) this.#record.instructed('prompt')
    if (this.#offered.includes('transcript')) this.#transcript = undefined
  }
}

/** To a model, the end of its turn looks like somebody's wish to stop; this one had another reason (failure mode 19). */
export const INTERRUPTION: PromptPreface = {
  kind: 'interruption',
  text: '[Your last turn was interrupted only so that this message reaches you now. It is not a request to stop.]',
}

/** How the agent is told it. */
export const asText = ({ text }: PromptPreface): ContentBlock => ({ type: 'text', text })

export interface Started {
  /** The agent took the instructions by a channel of its own. */
  readonly byChannel: boolean
  readonly knows: boolean
  /** What was said before; the agent is told it. */
  readonly transcript: string | undefined
}
