import type { AgentSignal } from '@agentproto/contracts'
import type { Input } from './input.js'

export interface Mail {
  readonly input: Input
  readonly done?: () => void
}

/** Inputs that wait, in order. */
export class Mailbox {
  #mail: Mail[] = []

  add(mail: Mail): void {
    this.#mail.push(mail)
  }

  addFirst(mail: Mail): void {
    this.#mail.unshift(mail)
  }

  /** What the agent wrote while another input was handled becomes one batch, and one write. */
  take(): Mail | undefined {
    const first = this.#mail.shift()
    if (first?.input.type !== 'signals' || this.#mail[0]?.input.type !== 'signals') return first
    const batch: AgentSignal[] = [...first.input.batch]
    const done = [first.done]
    for (let next = this.#mail[0]; next?.input.type === 'signals'; next = this.#mail[0]) {
      this.#mail.shift()
      batch.push(...next.input.batch)
      done.push(next.done)
    }
    return { input: { type: 'signals', batch }, done: () => done.forEach((each) => each?.()) }
  }
}
