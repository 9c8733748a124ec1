import { useEffect, useState } from 'preact/hooks'

/** What was read from the gateway. `problem` is empty unless the last read failed; `value` is then that of the read before. */
export interface AnswerRead<T> {
  readonly value: T | undefined
  readonly problem: string
}

/** Reads from the gateway now and whenever `key` changes; an answer that comes after the next read has begun is dropped. */
export function useAnswer<T>(read: (signal: AbortSignal) => Promise<T>, key: string): AnswerRead<T> {
  const [value, setValue] = useState<T>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const abort = new AbortController()
    const { signal } = abort
    read(signal).then(
      (answer) => {
        if (signal.aborted) return
        setValue(() => answer)
        setProblem('')
      },
      (thrown: unknown) => void (signal.aborted || setProblem(messageOf(thrown))),
    )
    return () => abort.abort()
    // `read` is a new function at each drawing; `key` says what it reads.
  }, [key])
  return { value, problem }
}

/** An error of the gateway says what happened, what was expected and what to do next. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
