import { AgentprotoError } from '@agentproto/contracts'

/** Waits for work that goes on without the caller. @throws `cancelled` as soon as the signal aborts */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new AgentprotoError('cancelled', 'The start of the agent was cancelled'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
