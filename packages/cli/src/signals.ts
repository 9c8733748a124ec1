import { EXIT, isAgentprotoError } from '@agentproto/contracts'

/**
 * Runs work that Ctrl-C or SIGTERM ends, which is not a failure of the work.
 * @returns the work's result, or exit code 130 when a signal ended it
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | number> {
  const abort = new AbortController()
  // Not `once`: a library of locks ends the process where it finds no other listener. A second signal ends it without waiting.
  const stop = (): void => (abort.signal.aborted ? process.exit(EXIT.interrupted) : abort.abort())
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
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
