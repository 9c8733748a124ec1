import { RequestError } from '@agentclientprotocol/sdk'
import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import { isRecord } from '@agentproto/arm-kit'
import { AgentprotoError, isLive, toAgentprotoError } from '@agentproto/contracts'
import type { ContentBlock, Session, SessionEvent, TurnEndReason } from '@agentproto/contracts'
import type { AcpChange } from './acp-host.js'
import { ClientAsks } from './client-asks.js'
import type { ClientLink } from './client-link.js'
import { ConfigView } from './config-view.js'
import type { Settings } from './config-view.js'
import { EventUpdates } from './event-updates.js'
import { OwnTurns } from './own-turns.js'

const PAGE = 1_000

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
  #following = false

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
  async replay(): Promise<void> {
    const until = this.#last
    for (let after = 0; after < until && !this.#leaving.signal.aborted;) {
      const { events, nextAfter } = await this.#link.sessions.eventsPage(this.id, after, PAGE)
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
  }

  /**
   * Prompts and waits for that turn's end.
   * @throws what refused the prompt, or the failure of the turn
   */
  async prompt(content: ContentBlock[]): Promise<StopReason> {
    const turn = await this.#own.admit(async () => {
      const { turn: number } = await this.#link.sessions.prompt(this.id, { prompt: content })
      return number
    })
    this.#follow()
    const { reason, error } = await turn.ended
    return stopReasonOf(reason, error)
  }

  async interrupt(): Promise<void> {
    await this.#link.sessions.interrupt(this.id)
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

  /** The client lets go of it; the session lives on. @returns whether a turn of the client was running */
  close(): boolean {
    this.#leaving.abort()
    this.#asks.close()
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
    void this.#run()
  }

  async #run(): Promise<void> {
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
    }
  }

  async #readToTheEnd(): Promise<void> {
    const { signal } = this.#leaving
    const onGap = ({ after, first }: { after: number; first: number }): void =>
      void this.#tell(this.#updates.notice('warning', `The events ${after + 1} to ${first - 1} are gone`))
    for await (const event of this.#link.sessions.events(this.id, { after: this.#last, signal, onGap })) {
      this.#last = event.seq
      // Whose prompt it is, is known once the gateway has answered the one that is on its way.
      if (event.type === 'user-prompt') await this.#own.admitted()
      const told = this.#take(event)
      if (told !== undefined) await told
    }
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

type AwaitingInput = Extract<SessionEvent, { type: 'agent-prompt' }>

const awaiting = (id: string, { request }: AwaitingInput): string =>
  `The agent asks${request.kind === 'question' ? `: ${request.message}` : ' for a permission'} (answer it with: agentproto sessions answer ${id})`

function stopReasonOf(reason: TurnEndReason, error: Extract<SessionEvent, { type: 'error' }> | undefined): StopReason {
  if (reason !== 'error' && reason !== 'timeout') return reason
  const what = error?.message ?? (reason === 'timeout' ? 'The turn timed out' : 'The turn failed')
  const code = typeof error?.agentCode === 'number' ? error.agentCode : RequestError.internalError().code
  throw new RequestError(code, what, { reason, ...(error?.data === undefined ? {} : { cause: error.data }) })
}
