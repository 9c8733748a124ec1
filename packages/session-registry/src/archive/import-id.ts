import type { Session } from '@agentproto/contracts'
import type { FleetIds } from '@agentproto/contracts/wire'

export interface ImportIdOptions {
  readonly isHere: (id: string) => boolean
  /** Ids that imports of this host have, and no session yet. */
  readonly importing: Set<string>
  readonly fleet?: FleetIds | undefined
}

/** The id of an import, which nothing else gets until its session is stored. */
export class ImportId {
  readonly #options: ImportIdOptions
  #here: string | undefined
  #inFleet: string | undefined

  constructor(options: ImportIdOptions) {
    this.#options = options
  }

  /** @returns whether it is free */
  async reserve(session: Session): Promise<boolean> {
    const { id } = session
    const { isHere, importing, fleet } = this.#options
    if (isHere(id) || importing.has(id)) return false
    importing.add(id)
    this.#here = id
    if (fleet === undefined) return true
    const isFree = await fleet.reserve(session)
    if (isFree) this.#inFleet = id
    return isFree
  }

  async end({ isStored }: { readonly isStored: boolean }): Promise<void> {
    const { importing, fleet } = this.#options
    if (this.#here !== undefined) importing.delete(this.#here)
    if (this.#inFleet !== undefined && !isStored) await fleet?.release(this.#inFleet)
  }
}
