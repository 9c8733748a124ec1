import type { Part } from './part.js'

/** Where a person reads above the end of a session, for the next load of the page in this tab. */
export class ReadingPlace {
  readonly #name: string
  readonly #first: number | undefined
  #seq: number | undefined

  constructor(sessionId: string) {
    this.#name = `agentproto.place.${sessionId}`
    this.#first = this.#read()
    this.#seq = this.#first
  }

  /** The event that was read when the page was left; undefined at the end. */
  get first(): number | undefined {
    return this.#first
  }

  set(seq: number | undefined): void {
    this.#seq = seq
  }

  /** The part with the event that was read; undefined if that is not loaded. */
  rowIn(parts: readonly Part[]): number | undefined {
    const { first } = this
    if (first === undefined) return undefined
    const row = parts.findLastIndex(({ seq }) => seq <= first)
    return row < 0 ? undefined : row
  }

  /** Keeps the place when the page is left. @returns ends that, and keeps it now */
  keepOnLeave(): () => void {
    const keep = (): void => this.#write()
    window.addEventListener('pagehide', keep)
    return () => {
      window.removeEventListener('pagehide', keep)
      keep()
    }
  }

  #read(): number | undefined {
    try {
      return Number(sessionStorage.getItem(this.#name)) || undefined
    } catch {
      // A browser without storage begins at the end.
      return undefined
    }
  }

  #write(): void {
    try {
      if (this.#seq === undefined) sessionStorage.removeItem(this.#name)
      else sessionStorage.setItem(this.#name, String(this.#seq))
    } catch {
      // As above.
    }
  }
}
