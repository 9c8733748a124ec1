import { paintFor, type CliContext } from '../cli-context.js'
import { openKeyboard, type Key } from './keyboard.js'
import { LiveArea, type LiveRows } from './live-area.js'
import type { DialogFrame } from './request-dialog.js'

/** What a dialog shows may change by itself, after this many milliseconds. */
const TICK_MS = 100

/** Keys in, an answer out. */
export interface Dialog<Answer> {
  view(frame: DialogFrame): LiveRows
  /** Handles one key. @returns the answer when the key ends the dialog; undefined in it means none */
  key(key: Key, now: number): { readonly answer: Answer | undefined } | undefined
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
  function draw(): void {
    const { columns: width = 80, rows: height = 24 } = stderr
    area.draw([], dialog.view({ paint, width, height, now: Date.now() }))
  }
  return new Promise((resolve) => {
    const keyboard = openKeyboard({ stdin, output: stderr }, (key) => {
      const end = dialog.key(key, Date.now())
      if (end === undefined) draw()
      else finish(end.answer)
    })
    const onAbort = (): void => finish(undefined)
    signal.addEventListener('abort', onAbort, { once: true })
    draw()
    const ticks = setInterval(draw, TICK_MS)
    function finish(answer: Answer | undefined): void {
      signal.removeEventListener('abort', onAbort)
      clearInterval(ticks)
      keyboard.close()
      area.close(dialog.last)
      resolve(answer)
    }
  })
}
