import { within } from '@agentproto/arm-kit'
import type { AgentprotoError, Clock } from '@agentproto/contracts'
import { Peer } from './peer.js'
import type { SendMessage } from './sdk-link.js'

/** The time in which there is no connection. */
interface Away {
  readonly over: Promise<void>
  readonly end: () => void
}

/** The connection that there is: over the network, it may be lost and replaced by another. */
export class CurrentPeer {
  peer: Peer
  readonly #create: () => Peer
  readonly #clock: Clock
  #away: Away | undefined

  constructor(name: string, send: SendMessage, clock: Clock) {
    this.#clock = clock
    this.#create = () => new Peer(name, send, clock)
    this.peer = this.#create()
  }

  /** Settles when there is a connection again, or there will be none; undefined while there is one. */
  get away(): Promise<void> | undefined {
    return this.#away?.over
  }

  /** The connection was lost: what waits for it rejects. Another one is expected. */
  lost(reason: AgentprotoError): void {
    let end = (): void => {}
    const over = new Promise<void>((resolve) => (end = resolve))
    this.#away ??= { over, end }
    const before = this.peer
    this.peer = this.#create()
    before.abandon(reason)
  }

  back(): void {
    const away = this.#away
    this.#away = undefined
    away?.end()
  }

  /** Waits until there is a connection. @throws `timeout` */
  async connected(ms: number): Promise<void> {
    if (!this.#away) return
    await within(this.#away.over, 'The connection to the agent did not come back', { ms, clock: this.#clock })
  }
}
