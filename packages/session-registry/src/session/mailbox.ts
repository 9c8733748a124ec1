import type { AgentSignal } from '@agentproto/contracts/agent'
import type { Input } from './input.js'

/** An input that waits, and who waits for it to be handled. */
export interface Mail {
  readonly input: Input
  readonly done?: () => void
}

/** Takes the next input. What the agent wrote while another input was handled becomes one batch, and one write. */
export function takeMail(mailbox: Mail[]): Mail | undefined {
  const first = mailbox.shift()
  if (first?.input.type !== 'signals' || mailbox[0]?.input.type !== 'signals') return first
  const batch: AgentSignal[] = [...first.input.batch]
  const done = [first.done]
  for (let next = mailbox[0]; next?.input.type === 'signals'; next = mailbox[0]) {
    mailbox.shift()
    batch.push(...next.input.batch)
    done.push(next.done)
  }
  return { input: { type: 'signals', batch }, done: () => done.forEach((each) => each?.()) }
}
