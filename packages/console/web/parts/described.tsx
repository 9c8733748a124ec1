import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { shown } from './shown-text.js'

interface DescribedProps {
  /** What an agent or its manifest says about the control; nothing is added without it. */
  readonly text: string | undefined
  /** Draws the control, with the attributes that tie it to its description. */
  readonly children: (about: { readonly 'aria-describedby'?: string }) => ComponentChildren
}

/** A control with a line below that says what it does. */
export function Described({ text, children }: DescribedProps) {
  const id = useId()
  if (text === undefined || text === '') return <div class="described">{children({})}</div>
  return (
    <div class="described">
      {children({ 'aria-describedby': id })}
      <small id={id} class="dim" dir="auto">
        {shown(text)}
      </small>
    </div>
  )
}
