import type { ComponentChildren } from 'preact'
import { useKeptNumber } from './kept-number.js'

interface FoldProps {
  /** What it is called among all that is kept open. */
  readonly name: string
  readonly class: string
  readonly summary: ComponentChildren
  readonly children: () => ComponentChildren
}

/** A folded part, whose content is made when it is opened. It stays open when it is scrolled away and back. */
export function Fold({ name, class: look, summary, children }: FoldProps) {
  const [isOpen, setIsOpen] = useKeptNumber(name, 0)
  return (
    <details class={look} open={isOpen === 1} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open ? 1 : 0)}>
      <summary>{summary}</summary>
      {isOpen === 1 ? children() : null}
    </details>
  )
}
