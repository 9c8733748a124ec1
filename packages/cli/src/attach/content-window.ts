import { cut } from '../render/fit.js'
import type { Key } from './keyboard.js'

/** Rows of which a part is shown. It knows whether all of them have been shown, one part after the other. */
export class ContentWindow {
  #top = 0
  #room = 1
  #width = 0
  #count = 0
  /** The rows before this one were shown. */
  #seenTo = 0
  #isRead = false

  /** Whether the end was shown, and everything before it. */
  get isRead(): boolean {
    return this.#isRead
  }

  /** At most `room` rows: the ones at the current place, and a last one that says what else there is. */
  show(rows: readonly string[], { room, width }: { readonly room: number; readonly width: number }): string[] {
    // Rows of another width are other rows: what was shown of them is unknown, unless it was all.
    if (width !== this.#width) this.#top = this.#seenTo = 0
    this.#width = width
    this.#count = rows.length
    const isLong = rows.length > room
    this.#room = Math.max(1, isLong ? room - 1 : room)
    this.#top = Math.max(0, Math.min(this.#top, rows.length - this.#room))
    const end = Math.min(rows.length, this.#top + this.#room)
    if (this.#top <= this.#seenTo) this.#seenTo = Math.max(this.#seenTo, end)
    this.#isRead ||= this.#seenTo >= rows.length
    const shown = rows.slice(this.#top, end)
    return isLong ? [...shown, this.#place(end, width)] : shown
  }

  /** Scrolls. @returns whether the key is one that does */
  key({ name, ctrl, meta }: Key): boolean {
    const step = ctrl || meta ? undefined : this.#steps[name ?? '']
    if (step === undefined) return false
    // No row is skipped, even if several keys come before the next frame.
    this.#top = Math.max(0, Math.min(this.#top + step, this.#seenTo - 1, this.#count - this.#room))
    return true
  }

  get #steps(): Readonly<Record<string, number>> {
    const page = Math.max(1, this.#room - 1)
    return { up: -1, down: 1, pageup: -page, pagedown: page }
  }

  #place(end: number, width: number): string {
    const more = end < this.#count ? 'PgDn ↓ more' : 'the end; PgUp ↑ back'
    return cut(`── rows ${this.#top + 1} to ${end} of ${this.#count} · ${more}`, width)
  }
}
