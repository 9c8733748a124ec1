import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import {
  AgentprotoError,
  type AgentRequest,
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
import type { ClientLink, EventNumber } from './client-link.js'
import { ConfigView } from './config-view.js'
import type { Settings } from './config-view.js'
import { EventUpdates } from './event-updates.js'
import { TURN_ENDED } from './numbered-events.js'
import { OwnTurns } from './own-turns.js'
import { stopReasonOf, turnEnded } from './rpc-error.js'
import { batchesOf, historyOf } from './session-log.js'

/** Outages of the gateway that are longer than this are reported to the user, in milliseconds. */
const OUTAGE_MS = 500

/** What belongs to a prompt beside its content. */
interface Prompting {
  /** Settles when the client has got its answer. */
  readonly answered: Promise<void>
  readonly trace: TraceContext | undefined
}

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

  /** Sends the history after an event; later updates continue where it ends. */
  replay(after: number): Promise<void> {
    const replayed = this.#replay(after)
    this.#replayed = replayed.catch(() => undefined)
    return replayed
  }

  async #replay(after: number): Promise<void> {
    for await (const { events, gap } of historyOf(this.#link.sessions, this.id, { after, until: this.#last })) {
      if (gap !== undefined) await this.#send(this.#gone(gap))
      await this.#sendAll(events, (event) => this.#history(event))
      if (this.#leaving.signal.aborted) return
    }
  }

  /** Sends what must follow the answer that opened the session, and then every new event. */
  async begin(session: Session): Promise<void> {
    await this.#send(this.#config.opening())
    if (session.pendingRequests > 0) {
      for (const { state, requestId, request } of await this.#link.sessions.requests(this.id))
        if (state === 'pending') await this.#ask(requestId, request)
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
  async prompt(content: ContentBlock[], { answered, trace }: Prompting): Promise<StopReason> {
    const interrupting = this.#interrupting
    const turn = await this.#own.admit(async () => {
      // A cancel that is being sent applies to earlier prompts only.
      await interrupting
      const asked = { prompt: content, whenBusy: 'queue' } as const
      const { turn: number } = await this.#link.sessions.prompt(this.id, asked, trace === undefined ? {} : { trace })
      return number
    }, answered)
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
    const options = { after: this.#last, signal, onGap, onState }
    for await (const events of batchesOf(this.#link.sessions, this.id, options))
      await this.#sendAll(events, (event) => this.#follows(event))
  }

  /** Sends what each event means, many in one write; a promise is waited for before the next event. */
  async #sendAll(
    events: readonly SessionEvent[],
    handle: (event: SessionEvent) => Promise<void> | undefined,
  ): Promise<void> {
    for (let at = 0; at < events.length && !this.#leaving.signal.aborted;) {
      let pressure: Promise<void> | undefined
      this.#link.together(() => {
        while (at < events.length && pressure === undefined) pressure = handle(events[at++] as SessionEvent)
      })
      await pressure
    }
  }

  #follows(event: SessionEvent): Promise<void> | undefined {
    this.#last = event.seq
    if (event.type !== 'user-prompt') return this.#handle(event)
    // The owner of the prompt is known once the gateway has answered the prompts that are being sent.
    return this.#own.admitted().then(() => this.#handle(event))
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

  #history(event: SessionEvent): Promise<void> | undefined {
    if (!this.#link.numbered) {
      const isError = event.type === 'error'
      return this.#send(isError ? this.#updates.notice('error', event.message) : this.#updates.of(event))
    }
    // Such a client gets the error of a turn with the turn's end.
    if (event.type === 'turn-end') return this.#turnEnded(event)
    if (event.type !== 'error') return this.#send(this.#updates.of(event), event)
    this.#own.failed(event.turn, event)
    return event.turn === undefined ? this.#send(this.#updates.notice('error', event.message), event) : undefined
  }

  /** A client that may not answer, or cannot, is shown that the agent waits. */
  #ask(requestId: string, request: AgentRequest): Promise<void> | undefined {
    if (this.#requests.ask(requestId, request)) return undefined
    return this.#send(this.#updates.notice('warning', awaiting(this.id, request)))
  }

  #handle(event: SessionEvent): Promise<void> | undefined {
    switch (event.type) {
      case 'user-prompt':
        return this.#own.has(event.turn) ? undefined : this.#send(this.#updates.of(event), event)
      case 'agent-prompt':
        return this.#ask(event.requestId, event.request)
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
        return this.#send(this.#config.updates(event.config), event)
      case 'session-stopped':
        return this.#send(this.#updates.notice('info', `The session has ended: ${event.stopReason}`), event)
      default:
        return this.#send(this.#updates.of(event), event)
    }
  }

  #turnEnded(event: Extract<SessionEvent, { type: 'turn-end' }>): Promise<void> | undefined {
    this.#updates.turnEnded()
    const outcome = this.#own.ended(event.turn, event.reason)
    // What comes after the turn in the log must not overtake the answer to its prompt.
    if (outcome instanceof Promise) return this.#untilLeft(outcome)
    if (this.#link.numbered) return this.#link.notify(TURN_ENDED, turnEnded(event, outcome))
    return outcome.error && this.#send(this.#updates.notice('error', outcome.error.message))
  }

  #untilLeft(settled: Promise<void>): Promise<void> {
    const { signal } = this.#leaving
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done)
      void settled.then(done)
    })
  }

  /**
   * Writes at once; returns a promise only while the client does not keep up.
   * @param of The event that these are all updates of
   */
  #send(updates: readonly SessionUpdate[], of?: EventNumber): Promise<void> | undefined {
    let pressure: Promise<void> | undefined
    const last = updates.length - 1
    for (let at = 0; at <= last; at++)
      pressure = this.#link.update(this.id, updates[at] as SessionUpdate, at === last ? of : undefined)
    return pressure
  }
}

const awaiting = (id: string, request: AgentRequest): string =>
  `The agent asks${request.kind === 'question' ? `: ${request.message}` : ' for a permission'} (answer with: agentproto sessions answer ${id})`
