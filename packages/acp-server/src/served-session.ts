import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import { AgentprotoError, isLive, toAgentprotoError, isRecord } from '@agentproto/contracts'
import type { ContentBlock, Session, SessionEvent, TraceContext } from '@agentproto/contracts'
import type { AcpChange, AcpConnectionState, AcpEventsPage } from './acp-host.js'
import { ClientAsks } from './client-asks.js'
import type { ClientLink } from './client-link.js'
import { ConfigView } from './config-view.js'
import type { Settings } from './config-view.js'
import { EventUpdates } from './event-updates.js'
import { OwnTurns } from './own-turns.js'
import { stopReasonOf } from './turn-failure.js'

const PAGE = 1_000
/** An outage that a person is told of, in milliseconds: shorter ones are nothing but a new connection. */
const OUTAGE_MS = 500

/** One session of the gateway as one client sees it: its log as updates, and the client's turns in it. */
export class ServedSession {
  readonly id: string
  readonly #link: ClientLink
  readonly #asks: ClientAsks
  readonly #updates: EventUpdates
  readonly #config: ConfigView
  readonly #own = new OwnTurns()
  readonly #leaving = new AbortController()
  /** The last event that the client was told of. */
  #last: number
  /** The last event that the log was read for; a log that ends before it is not read for it again. */
  #sought = 0
  #following = false
  /** What happens now is told after what happened. */
  #replayed: Promise<unknown> = Promise.resolve()
  #away = false
  /** Settles once what is interrupted has ended. */
  #interrupting: Promise<unknown> = Promise.resolve()

  constructor(link: ClientLink, { id, config, lastSeq }: Session) {
    this.id = id
    this.#link = link
    this.#last = lastSeq
    const { session } = link.capabilities
    this.#asks = new ClientAsks(link, id)
    this.#updates = new EventUpdates(isRecord(session?.notices))
    this.#config = new ConfigView(config, isRecord(session?.configOptions?.boolean))
    link.signal.addEventListener('abort', () => this.close(), { signal: this.#leaving.signal })
  }

  get settings(): Settings {
    return this.#config.settings()
  }

  /** Tells all that happened so far; what is told later goes on where this ends. */
  replay(): Promise<void> {
    const replayed = this.#replay()
    this.#replayed = replayed.catch(() => undefined)
    return replayed
  }

  async #replay(): Promise<void> {
    const until = this.#last
    for (let after = 0; after < until && !this.#leaving.signal.aborted;) {
      const { events, nextAfter, gap } = await this.#link.sessions.eventsPage(this.id, after, PAGE)
      if (gap !== undefined) await this.#tell(this.#gone(gap))
      for (const event of events) if (event.seq <= until) await this.#tell(this.#history(event))
      // The log was cut meanwhile: there is nothing more to tell.
      if (nextAfter <= after) break
      after = nextAfter
    }
  }

  /** Tells what the client needs beside the answer that opened the session, and then whatever happens. */
  async begin(session: Session): Promise<void> {
    await this.#tell(this.#config.opening())
    if (session.pendingRequests > 0) {
      for (const { state, requestId, request } of await this.#link.sessions.requests(this.id))
        if (state === 'pending') this.#asks.ask(requestId, request)
    }
    if (isLive(session)) this.#follow()
    else this.#awaitRevival()
  }

  /** Tells what of the start is not as it was asked for. */
  warn(warnings: readonly string[]): void {
    for (const warning of warnings) void this.#tell(this.#updates.notice('warning', warning))
  }

  /**
   * Prompts and waits for that turn's end; while a turn of somebody else runs, for its own turn first.
   * @throws what refused the prompt, or the failure of the turn
   */
  async prompt(content: ContentBlock[], trace?: TraceContext): Promise<StopReason> {
    const interrupting = this.#interrupting
    const turn = await this.#own.admit(async () => {
      // A cancel that is on its way meant what was before this prompt.
      await interrupting
      const asked = { prompt: content, whenBusy: 'queue' } as const
      const { turn: number } = await this.#link.sessions.prompt(this.id, asked, trace === undefined ? {} : { trace })
      return number
    })
    this.#follow()
    return stopReasonOf(await turn.ended)
  }

  /** Ends the client's own turns, be they running or queued; where it has none, whatever runs. */
  interrupt(): Promise<void> {
    const interrupted = this.#interrupt()
    this.#interrupting = Promise.allSettled([this.#interrupting, interrupted])
    return interrupted
  }

  async #interrupt(): Promise<void> {
    // A prompt that is on its way is meant as well, and has no number yet.
    await this.#own.admitted()
    const { numbers } = this.#own
    if (numbers.length === 0) await this.#link.sessions.interrupt(this.id, {})
    // The newest first, so that none of them begins.
    for (const turn of numbers.toReversed()) await this.#endTurn(turn)
  }

  async #endTurn(turn: number): Promise<void> {
    const { sent } = await this.#link.sessions.interrupt(this.id, { turn })
    if (sent === false) this.#own.withdrawn(turn)
  }

  /** @throws `not_supported`, `option_invalid`, `mode_unknown` */
  async setMode(mode: string): Promise<void> {
    await this.#configure({ mode })
  }

  /** @returns the options as they are then */
  async setOption(configId: string, value: string | boolean): Promise<NonNullable<Settings['configOptions']>> {
    await this.#configure(this.#config.changeOf(configId, value))
    return this.#config.configOptions()
  }

  /** The client lets go of it; the session lives on. @returns numbers of the client's turns that had not ended */
  close(): readonly number[] {
    this.#leaving.abort()
    this.#asks.close()
    this.#link.ended.delete(this.id)
    return this.#own.abandon(new AgentprotoError('cancelled', 'The client let go of the session'))
  }

  async #configure(change: AcpChange): Promise<void> {
    const changed = await this.#link.sessions.configure?.(this.id, change)
    if (changed === undefined)
      throw new AgentprotoError('not_supported', 'Nothing can be set on a running session here')
    if (changed.config !== undefined) this.#config.apply(changed.config)
  }

  #follow(): void {
    if (this.#following || this.#leaving.signal.aborted) return
    this.#following = true
    this.#link.ended.delete(this.id)
    void this.#run()
  }

  /** Somebody else may resume it. */
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
        // The run of the agent has ended. A prompt may have begun the next one meanwhile.
        if (!this.#own.waiting || this.#leaving.signal.aborted) return
        if (from === this.#last)
          throw new AgentprotoError('agent_exited', 'The session ended before its turn did', { given: this.id })
      }
    } catch (thrown) {
      if (this.#leaving.signal.aborted) return
      const error = toAgentprotoError(thrown)
      this.#own.abandon(error)
      await this.#tell(this.#updates.notice('error', `The session can no longer be followed: ${error.message}`))
    } finally {
      this.#following = false
      this.#awaitRevival()
    }
  }

  async #readToTheEnd(): Promise<void> {
    const { signal } = this.#leaving
    const onGap = (gap: Gap): void => void this.#tell(this.#gone(gap))
    const onState = (state: AcpConnectionState): void => this.#connection(state)
    for await (const event of this.#link.sessions.events(this.id, { after: this.#last, signal, onGap, onState })) {
      this.#last = event.seq
      // Whose prompt it is, is known once the gateway has answered the one that is on its way.
      if (event.type === 'user-prompt') await this.#own.admitted()
      const told = this.#take(event)
      if (told !== undefined) await told
    }
  }

  #connection(state: AcpConnectionState): void {
    const away = state.state === 'reconnecting'
    if (away === this.#away || (away && state.awayMs < OUTAGE_MS)) return
    this.#away = away
    const what = away ? 'The gateway is away; its sessions are followed again when it is back' : 'The gateway is back'
    void this.#tell(this.#updates.notice(away ? 'warning' : 'info', what))
  }

  #gone({ after, first }: Gap): SessionUpdate[] {
    return this.#updates.notice('warning', `The events ${after + 1} to ${first - 1} are gone`)
  }

  #history(event: SessionEvent): SessionUpdate[] {
    return event.type === 'error' ? this.#updates.notice('error', event.message) : this.#updates.of(event)
  }

  #take(event: SessionEvent): Promise<void> | undefined {
    switch (event.type) {
      case 'user-prompt':
        return this.#own.has(event.turn) ? undefined : this.#tell(this.#updates.of(event))
      case 'agent-prompt':
        if (this.#asks.ask(event.requestId, event.request)) return undefined
        return this.#tell(this.#updates.notice('warning', awaiting(this.id, event)))
      case 'agent-prompt-resolved':
        this.#asks.resolved(event.requestId)
        return undefined
      case 'error':
        this.#own.failed(event.turn, event)
        return undefined
      case 'turn-end':
        return this.#turnEnded(event)
      case 'config':
        this.#config.apply(event.config)
        return this.#tell(this.#config.updates(event.config))
      case 'session-stopped':
        return this.#tell(this.#updates.notice('info', `The session has ended: ${event.stopReason}`))
      default:
        return this.#tell(this.#updates.of(event))
    }
  }

  #turnEnded(event: Extract<SessionEvent, { type: 'turn-end' }>): Promise<void> | undefined {
    const error = this.#own.ended(event.turn, event.reason)
    const others = this.#updates.of(event)
    if (error !== undefined) others.push(...this.#updates.notice('error', error))
    return this.#tell(others)
  }

  /** Writes at once; the promise is there only where the client does not keep up. */
  #tell(updates: readonly SessionUpdate[]): Promise<void> | undefined {
    let pressure: Promise<void> | undefined
    for (const update of updates) pressure = this.#link.update(this.id, update)
    return pressure
  }
}

type Gap = NonNullable<AcpEventsPage['gap']>
type AwaitingInput = Extract<SessionEvent, { type: 'agent-prompt' }>

const awaiting = (id: string, { request }: AwaitingInput): string =>
  `The agent asks${request.kind === 'question' ? `: ${request.message}` : ' for a permission'} (answer it with: agentproto sessions answer ${id})`
