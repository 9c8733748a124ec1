import { useEffect, useRef, useState } from 'preact/hooks'
import { Outside } from './outside.js'
import { shown } from './shown-text.js'

interface ConfirmButtonProps {
  readonly label: string
  /** What will happen, as a question. */
  readonly question: string
  readonly isBusy: boolean
  readonly onConfirm: () => void
}

/** A button that asks before it does something that cannot be taken back. The focus moves to the answer that changes nothing. */
export function ConfirmButton({ label, question, isBusy, onConfirm }: ConfirmButtonProps) {
  const [isAsking, setIsAsking] = useState(false)
  const no = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isAsking) no.current?.focus()
  }, [isAsking])
  if (!isAsking)
    return (
      <button type="button" disabled={isBusy} onClick={() => setIsAsking(true)}>
        {shown(label)}
      </button>
    )
  return (
    <span class="confirm" role="group" aria-label={shown(question)}>
      <Outside text={question} />{' '}
      <button
        type="button"
        class="reject_once"
        onClick={() => {
          setIsAsking(false)
          onConfirm()
        }}
      >
        {shown(label)}
      </button>{' '}
      <button type="button" ref={no} onClick={() => setIsAsking(false)}>
        Cancel
      </button>
    </span>
  )
}
