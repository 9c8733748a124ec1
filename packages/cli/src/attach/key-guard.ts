import type { Key } from './keyboard.js'

/** Keys count when this many milliseconds have passed since a question appeared: people do not read faster. */
const READING_MS = 300
/** A key that was pressed before the question counts after this long without it: until then it may be held down. */
const HELD_MS = 700
/** After a key that means nothing here somebody may be typing a text, until they pause for this long. */
const TYPING_MS = 1_000

/** A long paste comes in several reads, the last of which may hold one key; a paste in brackets may hold their end. */
const PASTE_MS = 300

/** A paste in brackets is one key between these two. */
const PASTES: ReadonlySet<string> = new Set(['paste-start', 'paste', 'paste-end'])

/** Why a key does not answer what is shown. */
export type Refusal = 'pasted' | 'too-early' | 'held' | 'typing'

export const REFUSAL_TEXT: Readonly<Record<Refusal, string>> = {
  pasted: 'Pasted text answers nothing. Press the key.',
  'too-early': 'Too early to have read it. Press the key again.',
  held: 'Held key: let it go for a second, then press it.',
  typing: 'Typing? Pause for a second, then press a key.',
}

/**
 * Separates a key press that answers the question that is shown from one that was meant for something else: a paste, a key that
 * is held down, a text that is typed without looking. One for all the questions of a screen, as a key may be held from one
 * question to the next.
 */
export class KeyGuard {
  #shownAt = Infinity
  #isFirst = true
  #last: { readonly name: string; readonly at: number } | undefined
  #typingAt = -Infinity
  #pastedAt = -Infinity

  /** Another question is shown from now on. */
  restart(now: number): void {
    this.#shownAt = now
    this.#isFirst = true
  }

  /** Whether keys count by now. */
  isReady(now: number): boolean {
    return now - this.#shownAt >= READING_MS
  }

  /** @returns undefined for a key that counts */
  refusal(key: Key, now: number): Refusal | undefined {
    const name = nameOf(key)
    const before = this.#last
    this.#last = { name, at: now }
    if (this.#isPasted(key, now)) return 'pasted'
    if (!this.isReady(now)) return 'too-early'
    if (this.#isFirst && before?.name === name && now - before.at < HELD_MS) return 'held'
    if (this.#isTyping(now)) return 'typing'
    this.#isFirst = false
    return undefined
  }

  #isPasted(key: Key, now: number): boolean {
    const isPasted = key.isPasted === true || PASTES.has(nameOf(key)) || now - this.#pastedAt < PASTE_MS
    if (isPasted) this.#pastedAt = now
    return isPasted
  }

  #isTyping(now: number): boolean {
    const isTyping = now - this.#typingAt < TYPING_MS
    if (isTyping) this.#typingAt = now
    return isTyping
  }

  /** A key was typed that means nothing here. */
  typed(now: number): void {
    this.#typingAt = now
  }
}

/** The key, whatever a paste has for a text. */
const nameOf = ({ name = '', text = name }: Key): string => (PASTES.has(name) ? name : text)
