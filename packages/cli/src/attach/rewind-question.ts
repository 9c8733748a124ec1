import type { RewoundFiles } from '@agentproto/contracts/wire'
import { cut } from '../render/fit.js'
import { statusLine } from '../render/change-stat.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { KeyGuard } from './key-guard.js'
import type { Key } from './keyboard.js'

const SHOWN_FILES = 6

/** What a rewind would change, and whether the person wants that. Only a typed `y` does; a paste does nothing. */
export class RewindQuestion {
  readonly turn: number
  readonly plan: RewoundFiles
  readonly #guard = new KeyGuard()

  constructor(turn: number, { plan, now }: { readonly plan: RewoundFiles; readonly now: number }) {
    this.turn = turn
    this.plan = plan
    this.#guard.restart(now)
  }

  key(key: Key, now: number): 'rewind' | 'leave' | undefined {
    const { text, name, ctrl, meta } = key
    if (this.#guard.refusal(key, now) !== undefined) return undefined
    if (name === 'escape') return 'leave'
    if (ctrl || meta) return undefined
    if (text === 'y') return 'rewind'
    if (text === 'n') return 'leave'
    this.#guard.typed(now)
    return undefined
  }

  rows({ paint, width }: Frame): string[] {
    const { changed, changedCount, kept } = this.plan
    const where = this.turn === 0 ? 'the start of the session' : `the end of turn ${this.turn}`
    const more = changedCount - Math.min(changedCount, SHOWN_FILES)
    return [
      paint.yellow(cut(`? Set ${filesText(changedCount)} back to ${where}`, width)),
      ...changed
        .slice(0, SHOWN_FILES)
        .map((change) => `  ${statusLine({ ...change, path: cut(oneLine(change.path), width - 6) }, paint)}`),
      ...(more > 0 ? [cut(`  and ${more} more`, width)] : []),
      ...(kept.length > 0 ? [cut(`  ${filesText(kept.length)} stay as they are`, width)] : []),
      paint.bold(cut('  [y] rewind   [n] leave the files as they are', width)),
    ]
  }
}

export const filesText = (count: number): string => `${count} file${count === 1 ? '' : 's'}`
