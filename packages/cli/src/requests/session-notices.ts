import type { Session } from '@agentproto/contracts'
import type { SessionChange } from '@agentproto/contracts/wire'

/** A terminal is rung at most once in this time, in milliseconds: the screen has the rest. */
const QUIET_MS = 1_000

/** Finds in the changes of sessions what a person at a screen wants to hear of. Pure but for what it remembers. */
export class SessionNotices {
  readonly #isOwn: (id: string) => boolean
  readonly #known = new Map<string, Pick<Session, 'pendingRequests' | 'state'>>()
  #lastAt = Number.NEGATIVE_INFINITY

  /** @param isOwn Whether a session is on the screen already */
  constructor(isOwn: (id: string) => boolean = () => false) {
    this.#isOwn = isOwn
  }

  /** @returns the text of a notification, if the change needs one. What was so before the screen opened needs none */
  apply(change: SessionChange, now: number): string | undefined {
    if (change.type === 'forgotten') {
      this.#known.delete(change.id)
      return undefined
    }
    const { session } = change
    const before = this.#known.get(session.id)
    this.#known.set(session.id, { pendingRequests: session.pendingRequests, state: session.state })
    const text = before && !this.#isOwn(session.id) ? textOf(session, before) : undefined
    if (text === undefined || now - this.#lastAt < QUIET_MS) return undefined
    this.#lastAt = now
    return text
  }
}

function textOf(
  { label, id, workspaceSlug, pendingRequests, state }: Session,
  before: Pick<Session, 'pendingRequests' | 'state'>,
): string | undefined {
  const name = `${label ?? id} (${workspaceSlug})`
  if (pendingRequests > before.pendingRequests) return `${name} waits for your answer`
  return state === 'failed' && before.state !== 'failed' ? `${name} has failed` : undefined
}
