import { type Client, type ConnectionState, createClient, isAgentprotoError } from '@agentproto/client'
import type { SessionChange, Session, SessionRequest } from '@agentproto/client'
import { computed, signal } from '@preact/signals'
import { exchangeCode, takeCode } from './login.js'

/** `away`: it does not answer, and is tried again. `locked`: this browser has to log in. */
export type Connection = 'connecting' | 'connected' | 'away' | 'locked'

/** Longer than any sleep of a laptop. */
const RECONNECT_MS = 7 * 24 * 3_600_000

/** All that the console knows of the gateway that serves it, live. Every place reads it; only this file changes it. */
export class Gateway {
  readonly client: Client
  readonly connection = signal<Connection>('connecting')
  readonly sessions = signal<ReadonlyMap<string, Session>>(new Map())
  /** The requests of all sessions that wait for a person, oldest first. */
  readonly waiting = signal<readonly SessionRequest[]>([])
  readonly waitingCount = computed(() => this.waiting.value.length)
  readonly #api: string
  #isReading = false
  #readAgain = false

  /** @param page the address of the console's page: the gateway is one folder above */
  constructor(page: string) {
    this.#api = new URL('..', page).href.replace(/\/$/, '')
    this.client = createClient({ url: this.#api, reconnectMs: RECONNECT_MS })
  }

  /** Logs in with the code in the address, if there is one, and follows all sessions until the browser is logged out. */
  async open(): Promise<void> {
    const code = takeCode()
    if (code !== undefined) await exchangeCode(this.#api, code)
    await this.#follow()
  }

  /** @returns whether the code was right */
  async logIn(code: string): Promise<boolean> {
    const isRight = await exchangeCode(this.#api, code)
    if (isRight) void this.#follow()
    return isRight
  }

  async #follow(): Promise<void> {
    this.connection.value = 'connecting'
    try {
      for await (const change of this.client.watch({ onState: (state) => this.#setState(state) })) this.#apply(change)
    } catch (thrown) {
      this.connection.value = isAgentprotoError(thrown) && thrown.code === 'unauthorized' ? 'locked' : 'away'
    }
  }

  #setState(state: ConnectionState): void {
    this.connection.value = state.state === 'connected' ? 'connected' : 'away'
    if (state.state === 'connected') void this.#readWaiting()
  }

  #apply(change: SessionChange): void {
    const sessions = new Map(this.sessions.value)
    if (change.type === 'forgotten') {
      sessions.delete(change.id)
    } else {
      const before = sessions.get(change.session.id)
      sessions.set(change.session.id, change.session)
      if (before?.pendingRequests !== change.session.pendingRequests) void this.#readWaiting()
    }
    this.sessions.value = sessions
  }

  /** One read at a time; a change during a read causes one more. */
  async #readWaiting(): Promise<void> {
    this.#readAgain = true
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#readAgain) {
        this.#readAgain = false
        this.waiting.value = (await this.client.sessions.waiting()).requests
      }
    } catch {
      // The follower notices an outage and a lost login; its next connect reads again.
    } finally {
      this.#isReading = false
    }
  }
}
