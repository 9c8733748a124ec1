import { type Client, type ConnectionState, createClient, isAgentprotoError } from '@agentproto/client'
import type { AnswerRequest, Caller, SessionChange, Session, SessionRequest } from '@agentproto/client'
import { everySession } from '@agentproto/contracts'
import { computed, signal } from '@preact/signals'
import { HostList } from './host-list.js'
import { exchangeCode, takeCode } from './login.js'
import { networkChange, pause, withStream } from './network.js'
import { WaitingRequests } from './waiting-requests.js'

/** `away`: it does not answer, and is tried again. `locked`: this browser has to log in. */
export type Connection = 'connecting' | 'connected' | 'away' | 'locked'

const RETRY_MS = 2_000
/** Longer than any sleep of a laptop. */
const RECONNECT_MS = 7 * 24 * 3_600_000

/** How often a tab asks that has no stream, in milliseconds. */
const ASK_MS = 1_000

/** What each scope includes. */
const SCOPES: Readonly<Record<Caller['scope'], readonly Caller['scope'][]>> = {
  read: ['read'],
  operate: ['read', 'operate'],
  admin: ['read', 'operate', 'admin'],
}

/** All that the console knows of the gateway that serves it, live. Every place reads it; only this file changes it. */
export class Gateway {
  readonly client: Client
  readonly connection = signal<Connection>('connecting')
  readonly sessions = signal<ReadonlyMap<string, Session>>(new Map())
  readonly hosts: HostList
  readonly requests: WaitingRequests
  /** What this browser's login is and may do; undefined until the gateway said it. */
  readonly caller = signal<Caller | undefined>(undefined)
  readonly waitingCount = computed(() => this.requests.pending.value.length)
  readonly #api: string

  /** @param page the address of the console's page: the gateway is one folder above */
  constructor(page: string) {
    this.#api = new URL('..', page).href.replace(/\/$/, '')
    this.client = createClient({ url: this.#api, reconnectMs: RECONNECT_MS })
    this.hosts = new HostList(() => this.client.hosts())
    this.requests = new WaitingRequests(this.client, this.sessions)
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

  /** Whether this login has a scope. What needs one that it has not is not shown. */
  may(scope: Caller['scope']): boolean {
    const { value } = this.caller
    return value !== undefined && SCOPES[value.scope].includes(scope)
  }

  /** Where the icon of an adapter is; only for an `img`, in which a browser executes and loads nothing. */
  iconOf(slug: string): string {
    return `${this.#api}/adapters/${encodeURIComponent(slug)}/icon`
  }

  /** @throws `request_not_found`, `request_resolved`, `invalid_request` */
  async answer({ sessionId, requestId }: SessionRequest, body: AnswerRequest): Promise<void> {
    this.requests.answering(requestId)
    try {
      await this.client.sessions.answer(sessionId, requestId, body)
    } catch (thrown) {
      this.requests.notAnswered(requestId)
      throw thrown
    }
    await this.requests.read()
  }

  /** Until this browser has to log in; then nothing is left of what the login could see. */
  async #follow(): Promise<void> {
    this.connection.value = 'connecting'
    for (;;) {
      const end = (await withStream(() => this.#watch(networkChange()))) ?? (await this.#ask())
      if (end === 'locked') break
      if (end === 'away') this.connection.value = 'away'
      if (end !== 'again') await pause(end === 'asked' ? ASK_MS : RETRY_MS, networkChange())
    }
    this.sessions.value = new Map()
    this.requests.clear()
    this.hosts.close()
    this.caller.value = undefined
    this.connection.value = 'locked'
  }

  /** Follows all changes until the connection or the login is lost. A follower that fails at its first connect is started again. */
  async #watch(stop: AbortSignal): Promise<'again' | 'away' | 'locked'> {
    try {
      const onState = (state: ConnectionState): void => this.#setState(state)
      for await (const change of this.client.watch({ signal: stop, onState })) this.#apply(change)
      return 'away'
    } catch (thrown) {
      return stop.aborted ? 'again' : endOf(thrown)
    }
  }

  /** Asks for all sessions once, where other tabs use the connections that streams may have. */
  async #ask(): Promise<'asked' | 'away' | 'locked'> {
    try {
      const sessions = new Map<string, Session>()
      for await (const session of everySession(this.client.sessions)) sessions.set(session.id, session)
      this.sessions.value = sessions
      if (this.connection.value !== 'connected' || this.caller.value === undefined) this.#connected()
      this.connection.value = 'connected'
      await this.requests.read()
      return 'asked'
    } catch (thrown) {
      return endOf(thrown)
    }
  }

  #setState(state: ConnectionState): void {
    this.connection.value = state.state === 'connected' ? 'connected' : 'away'
    if (state.state !== 'connected') return
    this.#connected()
    void this.requests.read()
  }

  #connected(): void {
    void this.#readCaller()
    void this.hosts.read()
  }

  async #readCaller(): Promise<void> {
    try {
      this.caller.value = await this.client.caller()
    } catch {
      // As for the requests below: the next connect reads again.
    }
  }

  #apply(change: SessionChange): void {
    const sessions = new Map(this.sessions.value)
    if (change.type === 'forgotten') {
      sessions.delete(change.id)
    } else {
      const before = sessions.get(change.session.id)
      sessions.set(change.session.id, change.session)
      const isElsewhere = before !== undefined && hostOf(before) !== hostOf(change.session)
      if (isElsewhere) void this.hosts.read()
      if (isElsewhere || before?.pendingRequests !== change.session.pendingRequests) void this.requests.read()
    }
    this.sessions.value = sessions
  }
}

/** Its host, and whether that is heard from: when either changes, what waits there must be asked for again. */
const hostOf = ({ hostId, state }: Session): string => `${hostId} ${state === 'unreachable'}`

/** What a failure means for the connection. */
const endOf = (thrown: unknown): 'away' | 'locked' =>
  isAgentprotoError(thrown) && thrown.code === 'unauthorized' ? 'locked' : 'away'
