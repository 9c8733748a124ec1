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
