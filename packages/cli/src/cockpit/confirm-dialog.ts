import { ContentWindow } from '../attach/content-window.js'
import { KeyGuard, REFUSAL_TEXT } from '../attach/key-guard.js'
import { isCtrl, type Key } from '../attach/keyboard.js'
import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import type { ListFrame } from './session-list.js'

export interface Confirmation {
  readonly question: string
  /** What will happen, on rows of at most the width. */
  readonly rows: (frame: Frame) => readonly string[]
  /** What `y` does, as a verb: `merges`. */
  readonly verb: string
}

/** Asks before something that is not easily undone. Only a key that was pressed for it says yes, at the end of what it says. */
export class ConfirmDialog {
  readonly #confirmation: Confirmation
  readonly #guard = new KeyGuard()
  readonly #window = new ContentWindow()
  #isShown = false
  #note = ''

  /** @param opener The key that opened it: it may be held down */
  constructor(confirmation: Confirmation, opener: { readonly key: Key; readonly now: number }) {
    this.#confirmation = confirmation
    this.#guard.refusal(opener.key, opener.now)
  }

  view({ paint, width, height, now }: ListFrame): string[] {
    if (!this.#isShown) this.#guard.restart(now)
    this.#isShown = true
    const { question, rows, verb } = this.#confirmation
    const shown = this.#window.show(rows({ paint, width }), { room: Math.max(2, height - 2), width })
    const open = this.#guard.isReady(now) ? `y ${verb}, n goes back` : 'Read first: keys count in a moment.'
    const hint = this.#note === '' ? open : this.#note
    return [paint.yellow(cut(`? ${question}`, width)), ...shown, paint.bold(cut(`  ${hint}`, width))]
  }

  key(key: Key, now: number): 'yes' | 'no' | undefined {
    if (!this.#isShown || this.#window.key(key)) return undefined
    if (isCtrl(key, 'c') || key.name === 'escape') return 'no'
    const refusal = this.#guard.refusal(key, now)
    this.#note = refusal === undefined ? '' : REFUSAL_TEXT[refusal]
    if (refusal !== undefined || key.ctrl || key.meta) return undefined
    return this.#answer(key.text, now)
  }

  #answer(text: string | undefined, now: number): 'yes' | 'no' | undefined {
    if (text === 'n' || text === 'q') return 'no'
    if (text === 'y' && this.#window.isRead) return 'yes'
    if (text === 'y') this.#note = 'Scroll to the end first: PgDn.'
    else this.#guard.typed(now)
    return undefined
  }
}
