import type { PromptResponse } from '@agentclientprotocol/sdk'
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
import type { EventRecord } from '@agentproto/contracts/agent'
import type { ConfigRequest } from '@agentproto/contracts/wire'
import type { AcpConnectionState } from './acp-host.js'
import { awaiting, ClientRequests } from './client-requests.js'
import type { ClientLink } from './client-link.js'
import { ConfigView } from './config-view.js'
import type { Settings } from './config-view.js'
import { lostHost, type OnPresence } from './host-presence.js'
import { numberOf, TURN_ENDED } from './numbered-events.js'
import { OwnTurns } from './own-turns.js'
import { stopReasonOf, turnEnded } from './rpc-error.js'
import { eventOf, historyOf } from './session-log.js'
import { SessionOutput } from './session-output.js'
import { TextMessages } from './text-messages.js'
import { TurnCancels } from './turn-cancels.js'
import { untilAborted } from './until-aborted.js'

/** A lost host has published all but so many of the events that the record of its session counts, in almost every case. */
const UNPUBLISHED = 1_000

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
  readonly #output: SessionOutput
  /** Absent for a client that messages are objects for. */
  readonly #texts: TextMessages | undefined
  readonly #config: ConfigView
  readonly #own = new OwnTurns()
  readonly #leaving = new AbortController()
  /** The last event that was sent to the client, or that it does not want. */
  #last: number
  /** What is known of the log of a lost host: its last event may be before the one that the record names, or after it. */
  readonly #isAway: boolean
  /** The last event that the log was read for; it is not read for the same event again. */
  #sought = 0
  #following = false
  /** Settles after the replay, which precedes new events. */
  #replayed: Promise<unknown> = Promise.resolve()
  readonly #cancels: TurnCancels

  constructor(link: ClientLink, { id, config, lastSeq, state }: Session) {
    this.id = id
    this.#link = link
    this.#last = lastSeq
    this.#isAway = state === 'unreachable'
    const { session } = link.capabilities
    this.#cancels = new TurnCancels(this.#own, (which) => link.sessions.interrupt(id, which))
    this.#output = new SessionOutput(link, id)
    const onUnused = (why: string): void => void this.#output.notice('warning', `Your answer does not count: ${why}`)
    this.#requests = new ClientRequests(link, id, onUnused)
    this.#texts = link.sendJson && new TextMessages(id, link.numbered)
    this.#config = new ConfigView(config, isRecord(session?.configOptions?.boolean))
  }

  get settings(): Settings {
    return this.#config.settings()
  }

  /** The event after which the client gets every one. */
  get last(): number {
    return this.#last
  }

  /** Sends the history after an event; later updates continue where it ends. */
  replay(after: number): Promise<void> {
    const replayed = this.#replay(after)
    this.#replayed = replayed.catch(() => undefined)
    return replayed
  }

  async #replay(after: number): Promise<void> {
    const { signal } = this.#leaving
    const until = this.#isAway ? Infinity : this.#last
    if (after >= until) return
    // A host may be lost here too: the client gets what could not be read when it follows.
    this.#last = after
    for await (const { events, gap, last } of historyOf(this.#link.sessions, this.id, { after, until })) {
      if (gap !== undefined) await this.#output.gap(gap)
      await this.#output.all(events, { handle: (event) => this.#history(event), signal })
      if (signal.aborted) return
      this.#last = last
    }
  }

  /** The client does not want the history. */
  async skip(): Promise<void> {
    if (!this.#isAway) return
    this.#last = Math.max(0, this.#last - UNPUBLISHED)
    for await (const { last } of historyOf(this.#link.sessions, this.id, { after: this.#last, until: Infinity }))
      this.#last = last
  }

  /** Sends what must follow the answer that opened the session, and then every new event. */
  async begin(session: Session): Promise<void> {
    await this.#output.send(this.#config.opening())
    // The record of a lost host may be older than its log.
    if (session.pendingRequests > 0 || (isLive(session) && this.#requests.hasUnheard)) await this.#askPending()
    if (isLive(session)) this.#follow()
    else this.#awaitRevival()
    if (!this.#leaving.signal.aborted) await this.#link.hosts.add(session, (now, hosts) => this.#present(now, hosts))
  }

  async #askPending(): Promise<void> {
    this.#requests.hasUnheard = false
    for (const { state, requestId, request } of await this.#link.sessions.requests(this.id))
      if (state === 'pending') await this.#ask(requestId, request)
  }

  /** Its host is lost, or it goes on. The log is followed on meanwhile. */
  #present({ hostId, pendingRequests }: Session, { isAway, wasAway }: Parameters<OnPresence>[1]): void {
    if (isAway && !wasAway) {
      this.#own.abandon(lostHost(hostId))
      void this.#output.notice('warning', `The host ${hostId} is not heard from; the session goes on when it is back`)
    }
    if (isAway) return
    if (wasAway) void this.#output.notice('info', `The session goes on, on the host ${hostId}`)
    // The question of a host that was lost may be in no log that was read.
    if (pendingRequests === 0 || !(wasAway || this.#requests.hasUnheard)) return
    void this.#askPending().catch((thrown: unknown) => {
      this.#requests.hasUnheard = true
      this.#link.problem(String(thrown))
    })
  }

  /** Sends the warnings of the start. */
  async warn(warnings: readonly string[]): Promise<void> {
    for (const warning of warnings) await this.#output.notice('warning', warning)
  }

  /**
   * Sends a prompt and waits for the end of its turn; it is queued while another turn runs.
   * @throws the refusal of the prompt, or the failure of the turn
   */
  async prompt(content: ContentBlock[], { answered, trace }: Prompting): Promise<PromptResponse> {
    const cancelled = this.#cancels.beforePrompt()
    const turn = await this.#own.admit(async () => {
      // A cancel that is being sent applies to earlier prompts only.
      await cancelled
      const asked = { prompt: content, whenBusy: 'queue' } as const
      const { turn: number } = await this.#link.sessions.prompt(this.id, asked, trace === undefined ? {} : { trace })
      return number
    }, answered)
    this.#follow()
    const outcome = await turn.ended
    const numbered = this.#link.numbered && outcome.at !== undefined
    return { stopReason: stopReasonOf(outcome), ...(numbered ? { _meta: numberOf(outcome.at) } : {}) }
  }

  /** Ends the client's own turns, running or queued; where it has none, the running turn. */
  interrupt(): Promise<void> {
    return this.#cancels.cancel()
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
    await this.#link.sessions.mayConfigure?.(this.id)
    await this.configure(this.#config.changeOf(configId, value))
    return this.#config.configOptions()
  }

  /** Closes it for this client; the session continues. @returns numbers of the client's turns that had not ended */
  close(): readonly number[] {
    this.#leaving.abort()
    this.#requests.close()
    this.#link.ended.delete(this.id)
    this.#link.hosts.delete(this.id)
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
      await this.#output.notice('error', `The session can no longer be followed: ${error.message}`)
    } finally {
      this.#following = false
      this.#awaitRevival()
    }
  }

  async #readToTheEnd(): Promise<void> {
    const { signal } = this.#leaving
    const onGap = (gap: EventGap): void => void this.#output.gap(gap)
    const onState = (state: AcpConnectionState): void => this.#output.connection(state)
    const options = { after: this.#last, signal, onGap, onState }
    const { sessions } = this.#link
    if (sessions.recordBatches === undefined) {
      for await (const event of sessions.events(this.id, options)) if (!signal.aborted) await this.#follows(event)
    } else {
      for await (const records of sessions.recordBatches(this.id, options))
        await this.#output.all(records, { handle: (record) => this.#stored(record), signal })
    }
  }

  #stored(record: EventRecord): Promise<void> | undefined {
    const frame = this.#texts?.of(record)
    if (frame === undefined) return this.#follows(eventOf(record))
    this.#last = record.seq
    return this.#link.sendJson?.(frame)
  }

  #follows(event: SessionEvent): Promise<void> | undefined {
    this.#last = event.seq
    if (event.type !== 'user-prompt') return this.#handle(event)
    // The owner of the prompt is known once the gateway has answered the prompts that are being sent.
    return this.#own.admitted().then(() => this.#handle(event))
  }

  #history(event: SessionEvent): Promise<void> | undefined {
    const { numbered } = this.#link
    this.#requests.inHistory(event)
    if (event.type === 'turn-end' && numbered) return this.#turnEnded(event)
    if (event.type !== 'error') return this.#output.event(event)
    if (event.turn === undefined || !numbered) return this.#output.notice('error', event.message, event)
    // Such a client gets it with the end of the turn.
    this.#own.failed(event.turn, event)
    return undefined
  }

  /** A client that may not answer, or cannot, is shown that the agent waits. */
  #ask(requestId: string, request: AgentRequest): Promise<void> | undefined {
    if (this.#requests.ask(requestId, request)) return undefined
    return this.#output.notice('warning', awaiting(this.id, request))
  }

  #handle(event: SessionEvent): Promise<void> | undefined {
    switch (event.type) {
      case 'user-prompt':
        return this.#own.has(event.turn) ? undefined : this.#output.event(event)
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
        return this.#output.send(this.#config.updates(event.config), event)
      case 'session-stopped':
        return this.#output.notice('info', `The session has ended: ${event.stopReason}`, event)
      default:
        return this.#output.event(event)
    }
  }

  #turnEnded(event: Extract<SessionEvent, { type: 'turn-end' }>): Promise<void> | undefined {
    this.#output.turnEnded()
    const outcome = this.#own.ended(event)
    // What comes after the turn in the log must not overtake the answer to its prompt.
    if (outcome instanceof Promise) return untilAborted(outcome, this.#leaving.signal)
    if (this.#link.numbered) return this.#link.notify(TURN_ENDED, turnEnded(event, outcome))
    return outcome.error && this.#output.notice('error', outcome.error.message)
  }
}
