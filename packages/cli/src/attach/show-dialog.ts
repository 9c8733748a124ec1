import { paintFor, type CliContext } from '../cli-context.js'
import type { Frame } from '../render/paint.js'
import { openKeyboard, type Key } from './keyboard.js'
import { LiveArea, type LiveRows } from './live-area.js'

/** Keys in, an answer out. */
export interface Dialog<Answer> {
  view(frame: Frame): LiveRows
  /** Handles one key. @returns the answer when the key ends the dialog; undefined in it means none */
  key(key: Key): { readonly answer: Answer | undefined } | undefined
  /** The rows that stay on the screen. */
  readonly last?: readonly string[]
}

/**
 * Shows a dialog on stderr, so that stdout stays the result, until a key ends it.
 * @returns undefined when it ended without an answer, or the signal aborts
 */
export function showDialog<Answer>(
  context: CliContext,
  dialog: Dialog<Answer>,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const { stdin, stderr } = context
  const area = new LiveArea(stderr)
  const paint = paintFor(context, stderr)
  const draw = (): void => area.draw([], dialog.view({ paint, width: stderr.columns ?? 80 }))
  return new Promise((resolve) => {
    const keyboard = openKeyboard({ stdin, output: stderr }, (key) => {
      const end = dialog.key(key)
      if (end === undefined) draw()
      else finish(end.answer)
    })
    const onAbort = (): void => finish(undefined)
    signal.addEventListener('abort', onAbort, { once: true })
    draw()
    function finish(answer: Answer | undefined): void {
      signal.removeEventListener('abort', onAbort)
      keyboard.close()
      area.close(dialog.last)
      resolve(answer)
    }
  })
}
