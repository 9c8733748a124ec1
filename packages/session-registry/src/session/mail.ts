import type { AgentSignal } from '@agentproto/contracts/agent'
import type { Input } from './input.js'

/** An input that waits, and who waits for it to be handled. */
export interface Mail {
  readonly input: Input
  readonly done?: () => void
}

/** What the agent wrote while another input was handled becomes one batch, and one write. */
export function joinSignals(first: readonly AgentSignal[], { done }: Mail, mailbox: Mail[]): Mail {
  const batch = [...first]
  const all = [done]
  for (let next = mailbox[0]; next?.input.type === 'signals'; next = mailbox[0]) {
    mailbox.shift()
    batch.push(...next.input.batch)
    all.push(next.done)
  }
  return { input: { type: 'signals', batch }, done: () => all.forEach((each) => each?.()) }
}
