import { setMaxListeners } from 'node:events'
import { AgentprotoError, type Clock } from '@agentproto/contracts'

/** The caller's abort and a time limit as one signal. */
export interface Limit {
  readonly signal: AbortSignal
  /** Whether the time limit has passed. */
  readonly expired: boolean
  clear(): void
}

export interface LimitOptions {
  readonly clock: Clock
  /** Milliseconds. */
  readonly ms: number
  readonly signal?: AbortSignal | undefined
}

/** Must be cleared, so that no timer and no listener stays. */
export function startLimit({ clock, ms, signal }: LimitOptions): Limit {
  const controller = new AbortController()
  // One for each git program and file of a large rewind; Node would report more than ten as a leak.
  setMaxListeners(0, controller.signal)
  let expired = false
  const cancel = (): void => controller.abort(cancelled())
  const timer = clock.after(ms, () => {
    expired = !controller.signal.aborted
    controller.abort(new AgentprotoError('timeout', `git took longer than ${ms / 1000} s`))
  })
  if (signal?.aborted === true) cancel()
  else signal?.addEventListener('abort', cancel, { once: true })
  return {
    signal: controller.signal,
    get expired() {
      return expired
    },
    clear() {
      timer.cancel()
      signal?.removeEventListener('abort', cancel)
    },
  }
}

const cancelled = (): AgentprotoError => new AgentprotoError('cancelled', 'The operation was cancelled')
