import { useEffect, useRef } from 'preact/hooks'
import { followKeys, KEYS } from '../keys.js'

/** All keys of the console, in a dialog that `?` opens. */
export function KeyHelp({ isFleet }: { readonly isFleet: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const open = (): void => dialog.current?.showModal()
  useEffect(() => followKeys(open), [])
  return (
    <>
      <button type="button" class="keys-button" onClick={open}>
        <kbd>?</kbd> Keys
      </button>
      <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl class="facts">
          {KEYS.filter(({ isOfFleet }) => isFleet || isOfFleet !== true).map(({ keys, text }) => (
            <>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{text}</dd>
            </>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  )
}
