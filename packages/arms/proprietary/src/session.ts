import { Conversation, within } from '@agentproto/arm-kit'
import type { Turn, TurnOutcome, UserAsk } from '@agentproto/arm-kit'
import {
  type AgentAnswer,
  type AgentPrompt,
  AgentprotoError,
  type Clock,
  type ContentBlock,
  defined,
  type PermissionRequest,
  promptText,
  randomId,
  type StreamError,
  type TurnEnd,
} from '@agentproto/contracts'
import type {
  AgentCliClient,
  AgentCliEvent,
  AgentSink,
  ArmSession,
  ConfigChange,
  RunningTurn,
} from '@agentproto/contracts/agent'
import { EventFeed } from './event-feed.js'
import type { KeptSession, LeftTurn } from './kept-session.js'

/** AIP-45: a cancelled turn ends within a second; what is left of it is the arm's. */
const CANCEL_MS = 900
/** How long an error may wait for the `turn-end` that follows it, in milliseconds. */
const ERROR_SETTLE_MS = 250

export interface SessionContext {
  readonly clock: Clock
  readonly multimodal: boolean
  readonly warnings: readonly string[]
  /** Id of the resumed conversation. */
  readonly resumed: string | undefined
  /** Where its processes are kept; undefined for processes of this host. */
  readonly kept?: KeptSession | undefined
}

/** The one conversation of an adapter's client. */
export class ProprietarySession implements ArmSession {
  readonly warnings: readonly string[]
  readonly #client: AgentCliClient
  readonly #context: SessionContext
  readonly #conversation: Conversation
  readonly #feed: EventFeed
  #turnId = ''
  /** An error of the running turn was emitted. */
  #failed = false

  constructor(client: AgentCliClient, sink: AgentSink, context: SessionContext) {
    this.#client = client
    this.#context = context
    this.warnings = context.warnings
    this.#conversation = new Conversation(context.kept?.sink(sink) ?? sink)
    this.#feed = new EventFeed(client, {
      take: (event) => this.#take(event),
      flush: () => this.#conversation.flush(),
      over: (why) => this.#over(why),
    })
  }

  get agentSessionId(): string {
    return this.#client.sessionId ?? this.#context.resumed ?? ''
  }

  /** The running turn. */
  get turn(): Turn | undefined {
    return this.#conversation.turn
  }

  get turnId(): string {
    return this.#turnId
  }

  get isIdle(): boolean {
    return this.#conversation.isIdle
  }

  /** Goes on with the turn of an earlier host. */
  goOn({ id, isCancelled }: LeftTurn): RunningTurn {
    const turn = this.#conversation.begin()
    turn.isSent = true
    this.#turnId = id
    this.#failed = false
    this.#feed.start()
    if (isCancelled) void this.cancel()
    return { done: turn.done, cancelling: isCancelled }
  }

  /** Settles when all was emitted that the adapter's events have by now. */
  settled(): Promise<void> {
    return this.#feed.settled()
  }

  async send(prompt: readonly ContentBlock[]): Promise<void> {
    const turn = this.#conversation.begin()
    const { multimodal } = this.#context
    const refused = prompt.find(({ type }) => !multimodal && (type === 'image' || type === 'audio'))
    if (refused) this.#conversation.end(turn, failure(`The agent takes no ${refused.type} in a prompt`))
    // An agent that has ended has ended the turn already.
    else if (this.#conversation.turn === turn) this.#prompt(turn, multimodal ? prompt : promptText(prompt))
    return turn.done
  }

  async cancel(): Promise<void> {
    const turn = this.#conversation.beginCancel()
    if (!turn) return
    this.#context.clock.after(CANCEL_MS, () => this.#conversation.end(turn, { by: 'host' }))
    const { kept } = this.#context
    // A later host must not take the end of the agent for a failure.
    if (kept) await this.#guarded(() => kept.cancelTurn(), CANCEL_MS)
    // The turn ends whatever the adapter does.
    await this.#guarded(() => this.#client.cancel(this.#turnId), CANCEL_MS)
  }

  async configure(_change: ConfigChange): Promise<void> {
    throw new AgentprotoError(
      'not_supported',
      'The agent has no modes and no options that could be changed while it runs',
      {
        hint: 'Start a session with another mode or other options',
      },
    )
  }

  async close(): Promise<void> {
    if (this.#conversation.closed) return
    const turn = this.#conversation.turn
    if (turn) await this.#guarded(() => this.#client.cancel(this.#turnId), CANCEL_MS)
    this.fail(new AgentprotoError('session_ended', 'The session was closed'), { by: 'host' })
  }

  /** The agent has ended. Returns whether a turn was running. */
  fail(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    const wasBusy = this.#conversation.close(reason, outcome)
    this.#feed.stop()
    return wasBusy
  }

  #prompt(turn: Turn, message: string | readonly ContentBlock[]): void {
    this.#turnId = randomId('turn_')
    this.#failed = false
    this.#context.kept?.beginTurn()
    this.#feed.start()
    const failed = (thrown: unknown): void => {
      // The events before it come first.
      setImmediate(() => setImmediate(() => this.#conversation.end(turn, failure(messageOf(thrown)))))
    }
    void settled(() => this.#client.send(this.#turnId, message)).catch(failed)
  }

  #take(event: AgentCliEvent): void {
    if (this.#taken(event)) return
    // Events after the end of a turn are kept, but belong to no turn.
    const { type, ...payload } = event
    this.#conversation.addNotice({ type: 'extension', kind: `stray-${type}`, payload })
  }

  #taken(event: AgentCliEvent): boolean {
    const { turn } = this.#conversation
    switch (event.type) {
      case 'error':
        return turn !== undefined && this.#errs(turn, event)
      case 'agent-prompt':
        return turn !== undefined && this.#asks(event)
      case 'turn-end':
        return turn !== undefined && this.#ends(turn, event)
      default:
        return this.#conversation.add(event)
    }
  }

  /** An error ends the turn; most adapters send a `turn-end` after it. */
  #errs(turn: Turn, error: StreamError): boolean {
    this.#failed = true
    this.#conversation.add(error)
    const end = { by: 'agent' as const, verdict: { reason: 'error' as const } }
    this.#context.clock.after(ERROR_SETTLE_MS, () => this.#conversation.end(turn, end))
    return true
  }

  #ends(turn: Turn, { reason, usage }: TurnEnd): boolean {
    const stated = this.#failed && reason === 'end_turn' ? 'error' : reason
    this.#conversation.finish(turn, { reason: stated, ...defined({ usage }) })
    return true
  }

  #asks({ requestId, request }: AgentPrompt): boolean {
    const answering = this.#client.answer?.bind(this.#client)
    const reply = (answer: AgentAnswer): void => {
      if (answering) void settled(async () => answering(requestId, answer)).catch(() => {})
    }
    if (!answering || !this.#conversation.canAsk) {
      reply({ outcome: 'cancelled' })
      return false
    }
    this.#conversation.ask(requestId, request.kind === 'question' ? request : permissionOf(request), { reply })
    return true
  }

  /** The events ended, which is fine between turns. */
  #over(why: string): void {
    const turn = this.#conversation.turn
    if (turn && !turn.answer)
      this.#conversation.finish(turn, { reason: 'error', ...(this.#failed ? {} : { error: { message: why } }) })
  }

  async #guarded(call: () => Promise<unknown>, ms: number): Promise<void> {
    await within(settled(call), 'The adapter did not settle', { ms, clock: this.#context.clock }).catch(() => {})
  }
}

function permissionOf(request: PermissionRequest): UserAsk {
  const { type: _, ...toolCall } = request.toolCall
  return { ...request, toolCall }
}

const failure = (message: string): TurnOutcome => ({ by: 'failure', error: { message } })

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** Also of a call that throws before it has a promise. */
const settled = async <T>(call: () => Promise<T>): Promise<T> => call()
