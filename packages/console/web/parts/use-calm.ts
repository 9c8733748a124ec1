import { useEffect, useRef, useState } from 'preact/hooks'

/** A value that changes often, seen at most once in so many milliseconds; its last change is never missed. */
export function useCalm<T>(value: T, ms: number): T {
  const [calm, setCalm] = useState(value)
  const latest = useRef(value)
  latest.current = value
  const isChanged = value !== calm
  useEffect(() => {
    if (!isChanged) return undefined
    const timer = setTimeout(() => setCalm(() => latest.current), ms)
    return () => clearTimeout(timer)
  }, [isChanged, ms])
  return calm
}
