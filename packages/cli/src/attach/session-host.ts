import type { Session } from '@agentproto/contracts'

/** Where a session runs, and whether it can be reached: the gateway that is asked, and the host that it asks. */
export class SessionHost {
  #session: Session
  #isConnected = true
  readonly #own: string | undefined

  /** @param own Name of the host that is asked; undefined where it is not known */
  constructor(session: Session, own: string | undefined) {
    this.#session = session
    this.#own = own
  }

  get name(): string {
    return this.#session.hostId
  }

  /** Whether the gateway answers. */
  get isConnected(): boolean {
    return this.#isConnected
  }

  get isLost(): boolean {
    return this.#session.state === 'unreachable'
  }

  /** The name, where it is another host than the one that is asked. */
  get otherName(): string | undefined {
    return this.#own === undefined || this.#own === this.name ? undefined : this.name
  }

  /** Why nothing can be sent now. */
  get unsendable(): string | undefined {
    if (!this.#isConnected) return 'The gateway does not answer'
    return this.isLost ? `The host ${this.name} is not heard from` : undefined
  }

  /** That the host is lost, and what to do. */
  get loss(): string | undefined {
    return this.isLost ? lossOf(this.#session) : undefined
  }

  /** @returns what has changed, in words; undefined for nothing */
  setConnected(isConnected: boolean): string | undefined {
    if (isConnected === this.#isConnected) return undefined
    this.#isConnected = isConnected
    return isConnected ? 'Connected again.' : 'The gateway does not answer; reconnecting.'
  }

  /** @returns what has changed, in words; undefined for nothing */
  setSession(session: Session): string | undefined {
    const before = { name: this.name, isLost: this.isLost }
    this.#session = session
    if (before.name !== this.name) return `The host ${this.name} continues the session, which ${before.name} had.`
    if (before.isLost === this.isLost) return undefined
    return this.loss ?? `The host ${this.name} is back.`
  }
}

function lossOf({ hostId, onHostLoss }: Session): string {
  const next =
    onHostLoss === 'move'
      ? 'Another host continues the session when it stays away.'
      : 'The session continues here when it is back: start its gateway, or its network.'
  return `The host ${hostId} is not heard from. ${next} See: agentproto hosts`
}
