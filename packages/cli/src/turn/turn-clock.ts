import { AgentprotoError } from '@agentproto/contracts'

/**
 * A turn's outer limits: the time a caller gives it, and Ctrl-C. The first interrupt is cooperative, the
 * second one stops waiting.
 */
export interface TurnLimits {
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal
  /** Why it was stopped from outside; undefined when it ended by itself. */
  readonly stoppedBy: () => AgentprotoError | undefined
  release(): void
}

export function turnLimits({ timeoutSeconds, interrupt }: { readonly timeoutSeconds: number | undefined; readonly interrupt: () => void }): TurnLimits {
  const abort = new AbortController()
  let cause: AgentprotoError | undefined
  const stop = (error: AgentprotoError): void => {
    if (cause !== undefined) return abort.abort()
    cause = error
    interrupt()
  }
  const onSignal = (): void => stop(new AgentprotoError('cancelled', 'The run was interrupted'))
  const timer =
    timeoutSeconds === undefined
      ? undefined
      : setTimeout(() => stop(new AgentprotoError('timeout', `The turn took longer than ${timeoutSeconds} s`)), timeoutSeconds * 1_000)
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return {
    signal: abort.signal,
    stoppedBy: () => cause,
    release() {
      clearTimeout(timer)
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    },
  }
}
