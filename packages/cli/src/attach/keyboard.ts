import { emitKeypressEvents } from 'node:readline'
import { defined } from '@agentproto/contracts'
import { raw, type Input, type Output } from '../cli-context.js'

/** One key press, as `node:readline` reports it. */
export interface Key {
  /** The typed or pasted text; absent for keys that type nothing. */
  readonly text?: string
  /** `return`, `up`, `escape`, `a`, `pageup`, … A paste is `paste-start`, one `paste` with its whole text, `paste-end`. */
  readonly name?: string
  readonly ctrl: boolean
  readonly meta: boolean
}

export const isCtrl = (key: Key, name: string): boolean => key.ctrl && !key.meta && key.name === name

const BRACKETED_PASTE_ON = '\u001B[?2004h'
const BRACKETED_PASTE_OFF = '\u001B[?2004l'

/**
 * Reports the keys of a terminal until it is closed.
 * Sets the terminal to raw mode, so that Ctrl-C is a key like any other, and to bracketed paste, so that pasted text is one
 * key and not many.
 */
export function openKeyboard(
  { stdin, output }: { readonly stdin: Input; readonly output: Output },
  onKey: (key: Key) => void,
): { close(): void } {
  const report = joinPastes(onKey)
  const listener = (text: string | undefined, { name, ctrl = false, meta = false, sequence }: Pressed): void =>
    report({ ...defined({ text, name }), ctrl, meta }, sequence ?? text ?? '')
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

type Pressed = Partial<Key> & { readonly sequence?: string }

/** A terminal may break a paste off without its end. After this pause, in milliseconds, Ctrl-C is a key again. */
const PASTE_PAUSE_MS = 1_000

/** Reports what is between the start and the end of a paste as one key: it may have a million characters. */
export function joinPastes(onKey: (key: Key) => void, now = Date.now): (key: Key, sequence: string) => void {
  let pasted: string[] | undefined
  let lastAt = 0
  return (key, sequence) => {
    const isBrokenOff = isCtrl(key, 'c') && now() - lastAt > PASTE_PAUSE_MS
    if (pasted !== undefined && (key.name === 'paste-end' || isBrokenOff)) {
      onKey({ text: pastedText(pasted.join('')), name: 'paste', ctrl: false, meta: false })
      onKey(PASTE_END)
      pasted = undefined
      if (key.name === 'paste-end') return
    }
    lastAt = now()
    if (pasted !== undefined) pasted.push(sequence)
    else onKey(key)
    if (key.name === 'paste-start') pasted ??= []
  }
}

const PASTE_END: Key = { name: 'paste-end', ctrl: false, meta: false }

/** Terminals send a newline as a carriage return. Tabs stay; other control characters mean nothing in a prompt. */
const pastedText = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(/[\u0000-\u0008\u000B-\u001F\u007F]/g, '')
