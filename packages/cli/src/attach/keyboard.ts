import { emitKeypressEvents } from 'node:readline'
import { defined } from '@agentproto/contracts'
import { raw, type Input, type Output } from '../cli-context.js'

/** One key press, as `node:readline` reports it. */
export interface Key {
  /** The typed text; absent for keys that type nothing. */
  readonly text?: string
  /** `return`, `up`, `escape`, `a`, `paste-start`, … */
  readonly name?: string
  readonly ctrl: boolean
  readonly meta: boolean
}

export const isCtrl = (key: Key, name: string): boolean => key.ctrl && !key.meta && key.name === name

const BRACKETED_PASTE_ON = '\u001B[?2004h'
const BRACKETED_PASTE_OFF = '\u001B[?2004l'

/**
 * Reports the keys of a terminal until it is closed.
 * Sets the terminal to raw mode, so that Ctrl-C is a key like any other, and to bracketed paste, so that a newline in
 * pasted text does not submit.
 */
export function openKeyboard(
  { stdin, output }: { readonly stdin: Input; readonly output: Output },
  onKey: (key: Key) => void,
): { close(): void } {
  const listener = (text: string | undefined, { name, ctrl = false, meta = false }: Partial<Key>): void =>
    onKey({ ...defined({ text, name }), ctrl, meta })
  emitKeypressEvents(stdin)
  stdin.setRawMode?.(true)
  stdin.on('keypress', listener)
  stdin.resume()
  raw(output).write(BRACKETED_PASTE_ON)
  return {
    close() {
      stdin.off('keypress', listener)
      stdin.setRawMode?.(false)
      stdin.pause()
      raw(output).write(BRACKETED_PASTE_OFF)
    },
  }
}
