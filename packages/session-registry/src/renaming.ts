import { AgentprotoError, type Principal } from '@agentproto/contracts'
import { boundsOf, type RenameRequest } from '@agentproto/contracts/wire'
import type { SessionHandle } from './session/session-handle.js'
import type { SessionCache } from './session-cache.js'

/**
 * Renames sessions. Commands name a session by its label, so a rename gives it only a label that no other live session has that
 * the caller may use. A spawn may repeat one: there it is free text to group and filter by (AIP-46).
 */
export class Renaming {
  readonly #sessions: SessionCache
  /** Labels of renames under way. */
  readonly #claimed = new Set<string>()

  constructor(sessions: SessionCache) {
    this.#sessions = sessions
  }

  /** @throws `label_in_use` */
  async rename(session: SessionHandle, request: RenameRequest, by: Principal): Promise<void> {
    const { label } = request
    if (typeof label !== 'string') return session.call('rename', { request })
    this.#assertFree(label, session, by)
    this.#claimed.add(label)
    try {
      await session.call('rename', { request })
    } finally {
      this.#claimed.delete(label)
    }
  }

  #assertFree(label: string, { id }: SessionHandle, by: Principal): void {
    const isInScope = this.#sessions.scope(boundsOf(by, 'operate'))
    const other = this.#sessions.live
      .map(({ state }) => state.session)
      .find((session) => session.id !== id && session.label === label && isInScope(session))
    if (other === undefined && !this.#claimed.has(label)) return
    throw new AgentprotoError('label_in_use', 'Another live session has this label', {
      given: label,
      hint: other === undefined ? 'Use another label' : `Use another label, or rename ${other.id} first`,
    })
  }
}
