/** One key press, as `node:readline` tells it. */
export interface Key {
  /** What it types; absent for keys that type nothing. */
  readonly text?: string
  /** `return`, `up`, `escape`, `a`, `paste-start`, … */
  readonly name?: string
  readonly ctrl: boolean
  readonly meta: boolean
}

export const isCtrl = (key: Key, name: string): boolean => key.ctrl && !key.meta && key.name === name
