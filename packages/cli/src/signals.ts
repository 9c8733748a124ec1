import { EXIT, isAgentprotoError } from '@agentproto/contracts'

/**
 * Runs work that is watched rather than waited for: Ctrl-C or SIGTERM ends it as asked, which is no failure
 * of the work.
 * @returns the work's exit code, or 130 when it was ended
 */
export async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
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
