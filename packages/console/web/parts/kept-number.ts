import { createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'

/** Numbers that outlive the views that show them: a list removes rows that are out of view. */
export const KeptNumbers = createContext<Map<string, number>>(new Map())

/** As `useState` of a number; a view with the same name takes over where another one ended. Nothing is kept without a name. */
export function useKeptNumber(name: string | undefined, first: number): readonly [number, (value: number) => void] {
  const kept = useContext(KeptNumbers)
  const [value, setValue] = useState((name === undefined ? undefined : kept.get(name)) ?? first)
  const keep = (next: number): void => {
    if (name !== undefined) kept.set(name, next)
    setValue(next)
  }
  return [value, keep]
}
