import { useState } from 'preact/hooks'
import { messageOf } from './use-answer.js'

/** Something that the person asked for: whether it runs, and why it failed. */
export interface Action {
  readonly isBusy: boolean
  readonly problem: string
  /** Runs one at a time; a second click while it runs does nothing. @returns undefined if it failed or was not run */
  readonly run: <T>(work: () => Promise<T>) => Promise<T | undefined>
  readonly clear: () => void
}

export function useAction(): Action {
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const run = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    if (isBusy) return undefined
    setIsBusy(true)
    setProblem('')
    try {
      return await work()
    } catch (thrown) {
      setProblem(messageOf(thrown))
      return undefined
    } finally {
      setIsBusy(false)
    }
  }
  return { isBusy, problem, run, clear: () => setProblem('') }
}
