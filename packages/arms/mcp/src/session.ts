import { Conversation } from '@agentproto/arm-kit'
import type { IdlePoint, IdleSubject, Turn, TurnOutcome, Verdict } from '@agentproto/arm-kit'
import {
  type AgentAnswer,
  type AgentNotice,
  AgentprotoError,
  type Clock,
  type ContentBlock,
  defined,
  type Json,
  promptText,
  type TraceContext,
} from '@agentproto/contracts'
import type { AgentSink, ArmSession, ConfigChange, OpenSessionOptions } from '@agentproto/contracts/agent'
import { readAnswer, Streamed } from './answer.js'
import type { CallsFacts } from './calls.js'
import { type Elicitation, notAsked } from './elicitation.js'
import type { McpProfile, Spoken } from './profile.js'
import type { SessionFacts } from './session-facts.js'
import { callArguments, type PromptTools } from './tools.js'
import type { VendorEvent } from './vendor-event.js'

/**
 * How long a cancelled call may still be answered, in milliseconds. Servers that follow MCP answer it never, so
 * the turn ends without them.
 */
const CANCEL_GRACE_MS = 500

/** What is called. */
export interface ToolCall {
  readonly name: string
  readonly args: Json
  /** The trace that the call is part of. */
  readonly trace: TraceContext | undefined
}

/** A call of a tool that runs. */
export interface RunningCall {
  /** Our id of the request; also its progress token. */
  readonly id: number
  /** Cancels the call on the server. */
  cancel(reason: string): void
  /** Drops the answer. */
  forget(): void
}

/** The connection as its sessions use it. */
export interface SessionLink {
  readonly clock: Clock
  readonly profile: McpProfile
  readonly tools: PromptTools
  /** Calls a tool without a limit; `answered` is called in order with the notifications, once or never. */
  call(called: ToolCall, answered: (response: Json) => void): RunningCall
  /** Goes on with a call that an earlier host has sent; `answered` as in `call`. */
  expect(id: number, answered: (response: Json) => void): RunningCall
  facts(): ConnectionFacts
  respond(id: unknown, result: Json): void
  forget(session: McpSession): void
}

/** What a later host needs to know of the connection. */
export interface ConnectionFacts {
  readonly server: SessionFacts['server']
  readonly tools: PromptTools
  readonly calls: CallsFacts
}

export interface SessionStart {
  /** Where it works: its folder, then the additional ones. */
  readonly folders: readonly string[]
  readonly warnings: readonly string[]
  readonly conversation: {
    /** The server's id of it, once it is known. */
    readonly id?: string | undefined
    /** A turn has been sent. */
    readonly isBegun: boolean
    /** Why the server cannot go on with it. */
    readonly over?: string | undefined
  }
  /** Where a later host goes on, if the agent outlives this one. */
  readonly idle?: IdlePoint | undefined
}

/** One conversation with an agent that is an MCP server. */
export class McpSession implements ArmSession, IdleSubject {
  readonly folders: readonly string[]
  readonly warnings: readonly string[]
  readonly conversation: Conversation
  readonly #link: SessionLink
  readonly #idle: IdlePoint | undefined
  /** The server's id of this conversation, once it is known. */
  #thread: string | undefined
  /** The last call, which runs as long as its turn does. */
  #last: { readonly turn: Turn; readonly call: RunningCall } | undefined
  #streamed = new Streamed()
  /** A turn has been sent: without an id, the next turn would begin a new conversation. */
  #begun: boolean
  /** Why the server cannot go on with this conversation. */
  #over: string | undefined
  /** The last error of this turn, so that the answer does not repeat it. */
  #lastError: string | undefined

  constructor(link: SessionLink, sink: AgentSink, { folders, warnings, conversation, idle }: SessionStart) {
    this.#link = link
    this.conversation = new Conversation(sink)
    this.folders = folders
    this.warnings = warnings
    this.#thread = conversation.id
    this.#begun = conversation.isBegun
    this.#over = conversation.over
    this.#idle = idle
  }

  get agentSessionId(): string {
    return this.#thread ?? ''
  }

  get isIdle(): boolean {
    return this.conversation.isIdle
  }

  facts(): Json {
    const { folders, warnings } = this
    const conversation = { ...defined({ id: this.#thread, over: this.#over }), isBegun: this.#begun }
    return { protocol: 'mcp', ...this.#link.facts(), folders, warnings, conversation }
  }

  get busy(): boolean {
    return this.#call !== undefined
  }

  get #call(): RunningCall | undefined {
    return this.#last?.turn === this.conversation.turn ? this.#last?.call : undefined
  }

  /** Whether a notification names this session's running call, or its conversation, which may be new to us. */
  concerns(call: string | undefined, session: string | undefined): boolean {
    if (call !== undefined) return call === String(this.#call?.id)
    return session !== undefined && (this.#thread === undefined ? this.busy : session === this.#thread)
  }

  async send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void> {
    const turn = this.conversation.begin()
    const refused = this.#refusal(prompt)
    if (refused !== undefined) this.conversation.end(turn, failure(refused))
    else {
      const waiting = this.#idle?.beforePrompt()
      if (waiting) await waiting
      this.#prompt(turn, promptText(prompt), trace)
    }
    return turn.done
  }

  /** Goes on with the turn whose prompt an earlier host has sent. */
  resumeTurn(callId: number, isCancelled: boolean): Turn {
    const turn = this.conversation.begin()
    this.#begin(turn, (answered) => this.#link.expect(callId, answered))
    turn.cancelling = isCancelled
    return turn
  }

  /** Settles when what was read has been emitted, as far as it ends the turn. */
  async settled(): Promise<void> {
    const { turn } = this.conversation
    if (turn?.answer !== undefined || turn?.cancelling === true) await turn.done
  }

  async cancel(): Promise<void> {
    const { turn } = this.conversation
    if (!turn || turn.cancelling) return
    // Before the answers to what is pending, so that the server does not act on one of them.
    this.#call?.cancel('The user interrupted the turn')
    this.conversation.beginCancel()
    this.endCancelled(turn)
  }

  /** Ends a cancelled turn that the server does not end. */
  endCancelled(turn: Turn): void {
    this.#link.clock.after(CANCEL_GRACE_MS, () => this.conversation.end(turn, { by: 'host' }))
  }

  async configure(_change: ConfigChange): Promise<void> {
    throw new AgentprotoError('not_supported', 'An agent that is an MCP server has no modes and no options', {
      hint: 'Start a session with another mode or other options',
    })
  }

  async close(): Promise<void> {
    if (this.conversation.closed) return
    this.#call?.cancel('The session is closed')
    this.conversation.close(new AgentprotoError('session_ended', 'The session was closed'), { by: 'host' })
    this.#link.forget(this)
  }

  /** Handles the event of a notification; false when it belongs to no turn and was not used. */
  take(event: VendorEvent): boolean {
    switch (event.type) {
      case 'text-delta':
      case 'thought':
        return this.#said(event.type, event.text, event.messageId)
      case 'error': {
        const { final, ...error } = event
        this.#lastError = error.message
        if (final) this.#over = error.message
        return this.conversation.add(error)
      }
      case 'session':
        this.#thread = event.id
        return true
      case 'turn-end':
        return this.#stopped(event)
      case 'nothing':
        return true
      default:
        return this.conversation.add(event)
    }
  }

  /** Handles progress and log messages of MCP as the kind of event that the manifest names. */
  hear(message: string, as: Spoken, severity: Extract<AgentNotice, { type: 'notice' }>['severity']): void {
    if (as === 'ignore') return
    const line = message.endsWith('\n') ? message : `${message}\n`
    if (as !== 'notice' && this.#said(as, line)) return
    this.conversation.addNotice({ type: 'notice', severity, text: message })
  }

  /**
   * Handles a request that the user answers.
   * @param isOld an earlier host may have asked it
   */
  elicit(id: unknown, elicitation: Elicitation, isOld: boolean): void {
    const reply = (answer: AgentAnswer): void => this.#link.respond(id, elicitation.result(answer))
    // An earlier host has cancelled the turn after it asked, or its answer would be there.
    const isOver = isOld && this.conversation.turn?.cancelling === true
    if (!isOver && !this.conversation.canAsk) return this.#link.respond(id, notAsked(elicitation))
    this.conversation.ask(id, elicitation.ask, { reply, withdrawn: () => reply({ outcome: 'cancelled' }) })
    if (isOver) this.conversation.cancelRequests()
  }

  #refusal(prompt: readonly ContentBlock[]): string | undefined {
    if (this.#over !== undefined) return `The agent cannot go on after it failed (${this.#over}). Start a new session.`
    const odd = prompt.find(({ type }) => type === 'image' || type === 'audio')
    return odd && `The agent takes no ${odd.type} in a prompt`
  }

  #prompt(turn: Turn, prompt: string, trace: TraceContext | undefined): void {
    // If the agent has ended, so has the turn.
    if (this.conversation.turn !== turn) return
    if (turn.cancelling) return this.conversation.end(turn, { by: 'host' })
    const { prompt: first, reply } = this.#link.tools
    const tool = this.#thread !== undefined && reply !== undefined ? reply : first
    const [cwd = ''] = this.folders
    const args = callArguments(tool, { prompt, session: this.#thread, cwd })
    this.#begin(turn, (answered) => this.#link.call({ name: tool.name, args, trace }, answered))
  }

  #begin(turn: Turn, call: (answered: (response: Json) => void) => RunningCall): void {
    const isForgotten = this.#begun && this.#link.tools.reply !== undefined && this.#thread === undefined
    if (isForgotten) this.conversation.addNotice(FORGOTTEN)
    this.#begun = true
    this.#streamed = new Streamed()
    this.#lastError = undefined
    turn.isSent = true
    const running = call((response) => this.#answered(turn, response))
    this.#last = { turn, call: running }
    void turn.done.then(() => running.forget())
  }

  #said(type: 'text-delta' | 'thought', said: string, messageId?: string): boolean {
    if (type === 'text-delta' && this.conversation.turn) this.#streamed.said(said)
    return this.conversation.addText(type, said, messageId)
  }

  #answered(turn: Turn, response: Json): void {
    if (this.conversation.turn !== turn) return
    const { verdict, said, session } = readAnswer(response, this.#link.profile)
    if (session !== undefined) this.#thread = session
    this.#sayRest(turn, said)
    const { error, ...rest } = verdict
    const outcome: Verdict = error !== undefined && error.message === this.#lastError ? rest : verdict
    this.conversation.finish(turn, outcome)
  }

  /** The vendor reports the end of the turn; the answer to its call may come before, after, or never. */
  #stopped({ reason, said }: Extract<VendorEvent, { type: 'turn-end' }>): boolean {
    const turn = this.conversation.turn
    if (!turn) return false
    if (said !== undefined) this.#sayRest(turn, said)
    const failed = reason === 'end_turn' && this.#lastError !== undefined
    this.conversation.finish(turn, { reason: failed ? 'error' : reason })
    return true
  }

  #sayRest(turn: Turn, said: string): void {
    if (!turn.cancelling) this.#said('text-delta', this.#streamed.rest(said))
  }
}

const FORGOTTEN: AgentNotice = {
  type: 'notice',
  severity: 'warning',
  text: 'The agent has not named its session, so this turn begins a new conversation.',
}

const failure = (message: string): TurnOutcome => ({ by: 'failure', error: { message } })

/** What of a session's start an MCP server cannot be given, for people. */
export function unmountable({ mcpServers, additionalDirectories }: OpenSessionOptions): readonly string[] {
  return [
    ...mcpServers.map(({ name }) => `An agent that is an MCP server takes no MCP servers: "${name}" is not mounted.`),
    ...(additionalDirectories.length === 0
      ? []
      : [`Additional directories are only offered to the agent as roots: ${additionalDirectories.join(', ')}.`]),
  ]
}
