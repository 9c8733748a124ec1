import { emitKeypressEvents } from 'node:readline'
import type { Input, Output } from '../cli-context.js'
import type { Key } from './key.js'

/** Reports the keys of a terminal until it is closed. */
export interface Keyboard {
  close(): void
}

interface RawKey {
  readonly name?: string
  readonly ctrl?: boolean
  readonly meta?: boolean
}

const BRACKETED_PASTE_ON = '\u001B[?2004h'
const BRACKETED_PASTE_OFF = '\u001B[?2004l'

/**
 * Sets the terminal to raw mode, so that Ctrl-C is a key like any other, and to bracketed paste, so that a newline in
 * pasted text does not submit.
 */
export function openKeyboard(
  { stdin, output }: { readonly stdin: Input; readonly output: Output },
  onKey: (key: Key) => void,
): Keyboard {
  const listener = (text: string | undefined, { name, ctrl = false, meta = false }: RawKey): void =>
    onKey({ ...(text === undefined ? {} : { text }), ...(name === undefined ? {} : { name }), ctrl, meta })
  emitKeypressEvents(stdin)
  stdin.setRawMode?.(true)
  stdin.on('keypress', listener)
  stdin.resume()
  output.write(BRACKETED_PASTE_ON)
  return {
    close() {
      stdin.off('keypress', listener)
      stdin.setRawMode?.(false)
      stdin.pause()
      output.write(BRACKETED_PASTE_OFF)
    },
  }
}
