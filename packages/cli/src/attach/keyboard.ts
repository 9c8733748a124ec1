import { emitKeypressEvents } from 'node:readline'
import type { Input, Output } from '../io.js'
import type { Key } from './key.js'

/** The keys of a terminal, one by one, until it is closed. */
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
 * Takes the terminal in raw mode, so that Ctrl-C is a key like any other. Pasted text is told apart from
 * typed text, or else a newline in it would submit.
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
