import { useEffect, useMemo } from 'preact/hooks'
import { useAction } from '../parts/use-action.js'

/** Work of the gateway on an agent that reports its progress. */
export interface Work {
  readonly isBusy: boolean
  readonly problem: string
  /** @param each is called with each report, until the person leaves the page */
  readonly follow: <T>(work: (signal: AbortSignal) => AsyncIterable<T>, each: (report: T) => void) => Promise<void>
}

/** @param onEnd when the work has ended, also with an error: the state of the agent may be another one */
export function useWork(onEnd: () => void): Work {
  const action = useAction()
  // The gateway finishes an installation also when nobody looks.
  const abort = useMemo(() => new AbortController(), [])
  useEffect(() => () => abort.abort(), [abort])
  const { signal } = abort
  const follow: Work['follow'] = async (work, each) => {
    await action.run(async () => {
      for await (const report of work(signal)) each(report)
    })
    if (!signal.aborted) onEnd()
  }
  return { isBusy: action.isBusy, problem: action.problem, follow }
}
