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
  /** It came with others in one read: a paste into a terminal without brackets. A person presses one key at a time. */
  readonly isPasted?: true
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
  let isOpen = true
  const report = joinPastes(onKey)
  const reads = new KeyReads(({ key, sequence }) => {
    // A key may close the keyboard; those after it in the same read are dropped.
    if (isOpen) report(key, sequence)
  })
  const listener = (text: string | undefined, { name, ctrl = false, meta = false, sequence }: Pressed): void =>
    reads.add({ key: { ...defined({ text, name }), ctrl, meta }, sequence: sequence ?? text ?? '' })
  const begin = (): void => reads.begin()
  const end = (): void => reads.end()
  emitKeypressEvents(stdin)
  stdin.setRawMode?.(true)
  stdin.on('keypress', listener)
  // Readline parses a read between these two: it listens for data since somebody listens for keys.
  stdin.prependListener('data', begin)
  stdin.on('data', end)
  stdin.resume()
  raw(output).write(BRACKETED_PASTE_ON)
  return {
    close() {
      isOpen = false
      stdin.off('keypress', listener)
      stdin.off('data', begin)
      stdin.off('data', end)
      stdin.setRawMode?.(false)
      stdin.pause()
      raw(output).write(BRACKETED_PASTE_OFF)
    },
  }
}

type Pressed = Partial<Key> & { readonly sequence?: string }

interface ReadKey {
  readonly key: Key
  readonly sequence: string
}

/** The keys of one read, reported together at its end, so that it is known whether there are several. */
class KeyReads {
  readonly #report: (key: ReadKey) => void
  #read: ReadKey[] | undefined

  constructor(report: (key: ReadKey) => void) {
    this.#report = report
  }

  begin(): void {
    this.#read = []
  }

  /** Readline reports a single Escape later, outside of any read. */
  add(key: ReadKey): void {
    if (this.#read === undefined) this.#report(key)
    else this.#read.push(key)
  }

  end(): void {
    const keys = this.#read ?? []
    this.#read = undefined
    for (const { key, sequence } of keys)
      this.#report({ key: keys.length > 1 ? { ...key, isPasted: true } : key, sequence })
  }
}

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

/** Whether a key is a paste or a part of one, as far as the terminal says so. */
export function isPastedText({ name, text = '', ctrl, meta, isPasted }: Key): boolean {
  const isPaste = name === 'paste' || name === 'paste-start' || name === 'paste-end'
  return isPaste || (isPasted === true && !ctrl && !meta && /^[^\u0000-\u001F\u007F]+$/.test(text))
}
