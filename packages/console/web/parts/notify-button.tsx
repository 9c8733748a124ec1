import { notifying, setNotifying } from '../gateway/notifier.js'

/** Turns the notifications of this browser on and off; not there where the browser has none. */
export function NotifyButton() {
  const { value } = notifying
  if (value === 'impossible') return null
  return (
    <button type="button" aria-pressed={value === 'on'} onClick={() => void setNotifying(value === 'off')}>
      {value === 'on' ? 'This browser notifies you' : 'Notify me in this browser'}
    </button>
  )
}
