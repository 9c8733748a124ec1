import { EXIT, isAgentprotoError } from '@agentproto/contracts'

/**
 * Runs work that Ctrl-C or SIGTERM ends, which is not a failure of the work.
 * @returns the work's result, or exit code 130 when a signal ended it
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | number> {
  const abort = new AbortController()
  const stop = (): void => abort.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    return await work(abort.signal)
  } catch (thrown) {
    if (abort.signal.aborted && isAgentprotoError(thrown) && thrown.code === 'cancelled') return EXIT.interrupted
    throw thrown
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}
