import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import {
  type AgentPrompt,
  AgentprotoError,
  type ContentBlock,
  type EventGap,
  isLive,
  isRecord,
  type Session,
  type SessionEvent,
  toAgentprotoError,
  type TraceContext,
} from '@agentproto/contracts'
import type { ConfigRequest } from '@agentproto/contracts/wire'
import type { AcpConnectionState } from './acp-host.js'
import { ClientRequests } from './client-requests.js'
import type { ClientLink } from './client-link.js'
import { ConfigView } from './config-view.js'
import type { Settings } from './config-view.js'
import { EventUpdates } from './event-updates.js'
import { OwnTurns } from './own-turns.js'
import { stopReasonOf } from './rpc-error.js'

const PAGE = 1_000
/** Outages of the gateway that are longer than this are reported to the user, in milliseconds. */
const OUTAGE_MS = 500

/** One session of the gateway for one client: its log as updates, and the client's own turns. */
export class ServedSession {
  readonly id: string
  readonly #link: ClientLink
  readonly #requests: ClientRequests
  readonly #updates: EventUpdates
  readonly #config: ConfigView
  readonly #own = new OwnTurns()
  readonly #leaving = new AbortController()
  /** The last event that was sent to the client. */
  #last: number
  /** The last event that the log was read for; it is not read for the same event again. */
  #sought = 0
  #following = false
  /** Settles after the replay, which precedes new events. */
  #replayed: Promise<unknown> = Promise.resolve()
  #away = false
  /** Settles once the interrupted turns have ended. */
  #interrupting: Promise<unknown> = Promise.resolve()

  constructor(link: ClientLink, { id, config, lastSeq }: Session) {
    this.id = id
    this.#link = link
    this.#last = lastSeq
    const { session } = link.capabilities
    this.#requests = new ClientRequests(link, id)
    this.#updates = new EventUpdates(isRecord(session?.notices))
    this.#config = new ConfigView(config, isRecord(session?.configOptions?.boolean))
    link.signal.addEventListener('abort', () => this.close(), { signal: this.#leaving.signal })
  }

  get settings(): Settings {
    return this.#config.settings()
  }

  /** Sends the history; later updates continue where it ends. */
  replay(): Promise<void> {
    const replayed = this.#replay()
    this.#replayed = replayed.catch(() => undefined)
    return replayed
  }

  async #replay(): Promise<void> {
    const until = this.#last
    for (let after = 0; after < until && !this.#leaving.signal.aborted;) {
      const { events, nextAfter, gap } = await this.#link.sessions.eventsPage(this.id, after, PAGE)
      if (gap !== undefined) await this.#send(this.#gone(gap))
      for (const event of events) if (event.seq <= until) await this.#send(this.#history(event))
      // The log was truncated meanwhile: there are no more events.
      if (nextAfter <= after) break
      after = nextAfter
    }
  }

  /** Sends what must follow the answer that opened the session, and then every new event. */
  async begin(session: Session): Promise<void> {
    await this.#send(this.#config.opening())
    if (session.pendingRequests > 0) {
      for (const { state, requestId, request } of await this.#link.sessions.requests(this.id))
        if (state === 'pending') this.#requests.ask(requestId, request)
    }
    if (isLive(session)) this.#follow()
    else this.#awaitRevival()
  }

  /** Sends the warnings of the start. */
  async warn(warnings: readonly string[]): Promise<void> {
    await this.#send(warnings.flatMap((warning) => this.#updates.notice('warning', warning)))
  }

  /**
   * Sends a prompt and waits for the end of its turn; it is queued while another turn runs.
   * @throws the refusal of the prompt, or the failure of the turn
   */
  async prompt(content: ContentBlock[], trace?: TraceContext): Promise<StopReason> {
    const interrupting = this.#interrupting
    const turn = await this.#own.admit(async () => {
      // A cancel that is being sent applies to earlier prompts only.
      await interrupting
      const asked = { prompt: content, whenBusy: 'queue' } as const
      const { turn: number } = await this.#link.sessions.prompt(this.id, asked, trace === undefined ? {} : { trace })
      return number
    })
    this.#follow()
    return stopReasonOf(await turn.ended)
  }

  /** Ends the client's own turns, running or queued; where it has none, the running turn. */
  interrupt(): Promise<void> {
    const interrupted = this.#interrupt()
    this.#interrupting = Promise.allSettled([this.#interrupting, interrupted])
    return interrupted
  }

  async #interrupt(): Promise<void> {
    // Includes a prompt that is being sent and has no number yet.
    await this.#own.admitted()
    const { numbers } = this.#own
    if (numbers.length === 0) await this.#link.sessions.interrupt(this.id, {})
    // The newest first, so that no queued turn starts.
    for (const turn of numbers.toReversed()) {
      const { sent } = await this.#link.sessions.interrupt(this.id, { turn })
      if (sent === false) this.#own.withdrawn(turn)
    }
  }

  /** @throws `not_supported`, `option_invalid`, `mode_unknown` */
  async configure(change: ConfigRequest): Promise<void> {
    const changed = await this.#link.sessions.configure?.(this.id, change)
    if (changed === undefined)
      throw new AgentprotoError('not_supported', 'This gateway cannot change the settings of a running session')
    if (changed.config !== undefined) this.#config.apply(changed.config)
  }

  /** @returns the options as they are then */
  async setOption(configId: string, value: string | boolean): Promise<NonNullable<Settings['configOptions']>> {
    await this.configure(this.#config.changeOf(configId, value))
    return this.#config.configOptions()
  }

  /** Closes it for this client; the session continues. @returns numbers of the client's turns that had not ended */
  close(): readonly number[] {
    this.#leaving.abort()
    this.#requests.close()
    this.#link.ended.delete(this.id)
    return this.#own.abandon(new AgentprotoError('cancelled', 'The client closed the session'))
  }

  #follow(): void {
    if (this.#following || this.#leaving.signal.aborted) return
    this.#following = true
    this.#link.ended.delete(this.id)
    void this.#run()
  }

  /** Another client may resume the session. */
  #awaitRevival(): void {
    if (this.#following || this.#leaving.signal.aborted) return
    const last = Math.max(this.#last, this.#sought)
    this.#link.ended.add(this.id, {
      last,
      onRevived: (lastSeq) => {
        this.#sought = lastSeq
        this.#follow()
      },
    })
  }

  async #run(): Promise<void> {
    await this.#replayed
    try {
      for (;;) {
        const from = this.#last
        await this.#readToTheEnd()
        // The agent's run has ended. A prompt may have started the next one meanwhile.
        if (this.#own.numbers.length === 0 || this.#leaving.signal.aborted) return
        if (from === this.#last)
          throw new AgentprotoError('agent_exited', 'The session ended before its turn did', { given: this.id })
      }
    } catch (thrown) {
      if (this.#leaving.signal.aborted) return
      const error = toAgentprotoError(thrown)
      this.#own.abandon(error)
      await this.#send(this.#updates.notice('error', `The session can no longer be followed: ${error.message}`))
    } finally {
      this.#following = false
      this.#awaitRevival()
    }
  }

  async #readToTheEnd(): Promise<void> {
    const { signal } = this.#leaving
    const onGap = (gap: EventGap): void => void this.#send(this.#gone(gap))
    const onState = (state: AcpConnectionState): void => this.#connection(state)
    for await (const event of this.#link.sessions.events(this.id, { after: this.#last, signal, onGap, onState })) {
      this.#last = event.seq
      // The owner of the prompt is known once the gateway has answered the prompts that are being sent.
      if (event.type === 'user-prompt') await this.#own.admitted()
      const sent = this.#handle(event)
      if (sent !== undefined) await sent
    }
  }

  #connection(state: AcpConnectionState): void {
    const away = state.state === 'reconnecting'
    if (away === this.#away || (away && state.awayMs < OUTAGE_MS)) return
    this.#away = away
    const what = away
      ? 'The gateway is not reachable; its sessions continue when it is back'
      : 'The gateway is reachable again'
    void this.#send(this.#updates.notice(away ? 'warning' : 'info', what))
  }

  #gone({ after, first }: EventGap): SessionUpdate[] {
    return this.#updates.notice('warning', `The events ${after + 1} to ${first - 1} are no longer available`)
  }

  #history(event: SessionEvent): SessionUpdate[] {
    return event.type === 'error' ? this.#updates.notice('error', event.message) : this.#updates.of(event)
  }

  #handle(event: SessionEvent): Promise<void> | undefined {
    switch (event.type) {
      case 'user-prompt':
        return this.#own.has(event.turn) ? undefined : this.#send(this.#updates.of(event))
      case 'agent-prompt':
        if (this.#requests.ask(event.requestId, event.request)) return undefined
        return this.#send(this.#updates.notice('warning', awaiting(this.id, event)))
      case 'agent-prompt-resolved':
        this.#requests.resolved(event.requestId)
        return undefined
      case 'error':
        this.#own.failed(event.turn, event)
        return undefined
      case 'turn-end':
        return this.#turnEnded(event)
      case 'config':
        this.#config.apply(event.config)
        return this.#send(this.#config.updates(event.config))
      case 'session-stopped':
        return this.#send(this.#updates.notice('info', `The session has ended: ${event.stopReason}`))
      default:
        return this.#send(this.#updates.of(event))
    }
  }

  #turnEnded(event: Extract<SessionEvent, { type: 'turn-end' }>): Promise<void> | undefined {
    const error = this.#own.ended(event.turn, event.reason)
    const others = this.#updates.of(event)
    if (error !== undefined) others.push(...this.#updates.notice('error', error))
    return this.#send(others)
  }

  /** Writes at once; returns a promise only while the client does not keep up. */
  #send(updates: readonly SessionUpdate[]): Promise<void> | undefined {
    let pressure: Promise<void> | undefined
    for (const update of updates) pressure = this.#link.update(this.id, update)
    return pressure
  }
}

const awaiting = (id: string, { request }: AgentPrompt): string =>
  `The agent asks${request.kind === 'question' ? `: ${request.message}` : ' for a permission'} (answer with: agentproto sessions answer ${id})`
