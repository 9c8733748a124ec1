import type { Key } from '../attach/keyboard.js'
import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'

export interface ScrollFrame extends Frame {
  readonly height: number
}

/** A long text to read: rows, of which a part is shown, and keys that scroll. */
export class ScrollView {
  readonly #title: string
  readonly #rowsIn: (frame: Frame) => readonly string[]
  #wrapped: { readonly width: number; readonly rows: readonly string[] } | undefined
  #top = 0
  #room = 1

  /** @param rowsIn The rows of at most the width of the frame; asked for once for each width */
  constructor(title: string, rowsIn: (frame: Frame) => readonly string[]) {
    this.#title = title
    this.#rowsIn = rowsIn
  }

  view({ paint, width, height }: ScrollFrame): string[] {
    const rows = this.#rows({ paint, width })
    this.#room = Math.max(1, height - 2)
    this.#top = Math.max(0, Math.min(this.#top, rows.length - this.#room))
    const end = Math.min(rows.length, this.#top + this.#room)
    const isLong = rows.length > this.#room
    const place = isLong ? `rows ${this.#top + 1} to ${end} of ${rows.length} · PgUp PgDn · ` : ''
    return [
      paint.bold(cut(this.#title, width)),
      ...rows.slice(this.#top, end),
      paint.dim(cut(`${place}q goes back`, width)),
    ]
  }

  /** @returns whether the key ends the reading */
  key({ name = '', text = '', ctrl, meta }: Key): boolean {
    if (name === 'escape' || (ctrl && name === 'c')) return true
    if (ctrl || meta) return false
    if (text === 'q') return true
    this.#top += this.#steps[name] ?? this.#steps[text] ?? 0
    return false
  }

  get #steps(): Readonly<Record<string, number>> {
    const page = Math.max(1, this.#room - 1)
    return {
      up: -1,
      down: 1,
      j: 1,
      k: -1,
      pageup: -page,
      pagedown: page,
      space: page,
      home: -this.#top,
      end: this.#wrapped?.rows.length ?? 0,
    }
  }

  #rows(frame: Frame): readonly string[] {
    if (this.#wrapped?.width !== frame.width) this.#wrapped = { width: frame.width, rows: this.#rowsIn(frame) }
    return this.#wrapped.rows
  }
}
