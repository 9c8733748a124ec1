import { useState } from 'preact/hooks'
import type { SessionFeed } from '../gateway/session-feed.js'

/** What is above the first part: the beginning of the session, or how much of it is not loaded. */
export function EarlierEvents({ feed }: { readonly feed: SessionFeed }) {
  const [isLoading, setIsLoading] = useState(false)
  const count = feed.earlier.value ?? 0
  if (count === 0) return <span class="dim">The beginning of the session</span>
  const load = async (): Promise<void> => {
    setIsLoading(true)
    await feed.loadAll().finally(() => setIsLoading(false))
  }
  const problem = feed.earlierProblem.value
  return (
    <>
      <button type="button" disabled={isLoading} onClick={() => void load()}>
        {isLoading ? 'Loading' : 'Load all'}
      </button>
      <span class="dim">{count.toLocaleString('en')} earlier events are not loaded.</span>
      {problem === '' ? null : <span role="alert">{problem}</span>}
    </>
  )
}
