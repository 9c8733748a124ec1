import { useState } from 'preact/hooks'

/** A call of the gateway that a person started, and what became of it. */
export interface Calling {
  readonly problem: string
  readonly isBusy: boolean
  /** @returns whether it worked; otherwise `problem` says why not */
  readonly call: (what: () => Promise<unknown>) => Promise<boolean>
}

export function useCalling(): Calling {
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const call = async (what: () => Promise<unknown>): Promise<boolean> => {
    setProblem('')
    setIsBusy(true)
    try {
      await what()
      return true
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown))
      return false
    } finally {
      setIsBusy(false)
    }
  }
  return { problem, isBusy, call }
}
