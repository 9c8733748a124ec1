import { signal } from '@preact/signals'

/** The unfinished prompt of each session, as long as the page is open: a look at another place does not lose it. */
const drafts = signal<ReadonlyMap<string, string>>(new Map())

/** @returns what is written for a session, and what replaces it */
export function useDraftText(id: string): readonly [string, (next: string | ((now: string) => string)) => void] {
  const set = (next: string | ((now: string) => string)): void => {
    const now = drafts.value.get(id) ?? ''
    drafts.value = new Map(drafts.value).set(id, typeof next === 'string' ? next : next(now))
  }
  return [drafts.value.get(id) ?? '', set]
}
