import type { HostEvent, Session, StreamEvent } from '@agentproto/contracts'
import type { AttachAction } from '../src/attach/attach-action.js'
import { AttachScreen } from '../src/attach/attach-screen.js'
import type { Key } from '../src/attach/keyboard.js'
import { columnsOf } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import { log, session } from './samples.js'

/** The time of the fifth second of a turn. */
export const NOW = Date.parse('2026-11-21T10:00:05.000Z')
export const SIZES = [
  [80, 24],
  [120, 40],
  [50, 20],
] as const

export const prompted = (text = 'go'): HostEvent => ({ type: 'user-prompt', content: [{ type: 'text', text }] })
export const ended = (reason: (StreamEvent & { type: 'turn-end' })['reason'] = 'end_turn'): StreamEvent => ({
  type: 'turn-end',
  reason,
})
export const key = (name: string, fields: Partial<Key> = {}): Key => ({ name, ctrl: false, meta: false, ...fields })
export const ctrl = (name: string): Key => key(name, { ctrl: true })
export const pasted = (text: string): Key => key('paste', { text })

interface Size {
  readonly width?: number
  readonly height?: number
}

/** An attach screen without a terminal: types, shows, and checks that no row is wider than the terminal. */
export class AttachDriver {
  readonly screen: AttachScreen
  readonly #width: number
  readonly #height: number
  #turn = 0

  constructor(fields: Partial<Session> = {}, { width = 80, height = 24 }: Size = {}) {
    this.#width = width
    this.#height = height
    const options = { paint: createPaint(false), width: () => width, height: () => height }
    this.screen = new AttachScreen({ session: session(fields), ...options })
  }

  show(...events: readonly (StreamEvent | HostEvent)[]): void {
    for (const event of log(events)) {
      if (event.type === 'user-prompt') this.#turn += 1
      this.screen.apply({ ...event, turn: this.#turn })
    }
  }

  /** Types text, in which a newline is Enter, or presses keys. @returns the last action */
  press(...keys: readonly (Key | string)[]): AttachAction | undefined {
    let action: AttachAction | undefined
    for (const each of keys.flatMap((one) => (typeof one === 'string' ? Array.from(one, typed) : [one])))
      action = this.screen.key(each, NOW) ?? action
    return action
  }

  get rows(): readonly string[] {
    const { rows } = this.screen.live(NOW)
    for (const row of rows)
      if (columnsOf(row) > this.#width || /[\u0000-\u001F\u007F-\u009F]/.test(row))
        throw new Error(`Not one row: ${row}`)
    if (rows.length > this.#height) throw new Error(`More rows than the terminal has: ${rows.length}`)
    return rows
  }

  /** All live rows as one text. */
  get text(): string {
    return this.rows.join('\n')
  }

  /** The finished rows since the last call, as one text. */
  get said(): string {
    return this.screen.takeFinished().join('\n')
  }
}

const typed = (text: string): Key => (text === '\n' ? key('return', { text: '\r' }) : key(text, { text }))
