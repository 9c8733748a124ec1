/** The time of the last use is stored at most this often, in milliseconds. */
const STORE_MS = 60 * 60_000

interface Token {
  readonly id: string
  /** As it is stored: ISO-8601. */
  readonly lastUsedAt?: string
}

/** When tokens were last sent. Writing the file at each use would cost every request one. */
export class LastUses {
  /** By the id of the token, in milliseconds since 1970; `stored` is what was, or is being, stored. */
  readonly #uses = new Map<string, { readonly at: number; readonly stored: number }>()

  /** @returns whether it is time to store the uses */
  add({ id, lastUsedAt }: Token, at: number): boolean {
    const before = this.#uses.get(id)?.stored ?? (lastUsedAt === undefined ? -Infinity : Date.parse(lastUsedAt))
    const isDue = at - before >= STORE_MS
    this.#uses.set(id, { at, stored: isDue ? at : before })
    return isDue
  }

  get areStored(): boolean {
    return [...this.#uses.values()].every(({ at, stored }) => at === stored)
  }

  /** The token with its last use. */
  with<T extends Token>(token: T): T {
    const use = this.#uses.get(token.id)
    return use === undefined ? token : { ...token, lastUsedAt: new Date(use.at).toISOString() }
  }
}
