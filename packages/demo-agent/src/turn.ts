import type { AgentContext, ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk'
import { cutText } from './bounded-text.js'
import type { Lifecycle } from './lifecycle.js'
import type { Output } from './output.js'
import type { DemoSession } from './session.js'
import type { ReplayEntry, StoredTurn } from './stored-session.js'

/** Text that a turn keeps for a replay, in UTF-16 units, and entries; what is beyond is not replayed. */
const MAX_REPLAY_CHARS = 8_192
const MAX_REPLAY_ENTRIES = 50

/** What is the same for every turn of the process. */
export interface TurnSurroundings {
  readonly client: AgentContext
  readonly clientCapabilities: ClientCapabilities
  readonly output: Output
  readonly lifecycle: Lifecycle
}

/** How the turn is to be answered. */
export interface TurnAnswer {
  stopReason: string
  usage?: { readonly inputTokens: number; readonly outputTokens: number; readonly totalTokens: number }
}

/** One prompt being answered: what a word can say and see. */
export class Turn implements TurnSurroundings {
  readonly session: DemoSession
  readonly prompt: string
  /** Aborts on `session/cancel` and when the agent ends. */
  readonly signal: AbortSignal
  readonly client: AgentContext
  readonly clientCapabilities: ClientCapabilities
  readonly output: Output
  readonly lifecycle: Lifecycle
  readonly answer: TurnAnswer = { stopReason: 'end_turn' }
  #toolCalls = 0
  #replay: ReplayEntry[] = []
  #replayChars = 0

  constructor(start: { session: DemoSession; prompt: string; signal: AbortSignal }, around: TurnSurroundings) {
    this.session = start.session
    this.prompt = start.prompt
    this.signal = start.signal
    this.client = around.client
    this.clientCapabilities = around.clientCapabilities
    this.output = around.output
    this.lifecycle = around.lifecycle
  }

  say(text: string): void {
    this.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
    this.remember({ kind: 'message', text })
  }

  think(text: string): void {
    this.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } })
    this.remember({ kind: 'thought', text })
  }

  update(update: SessionUpdate): void {
    this.output.message(updateMessage(this.session.id, update))
  }

  /** An id that no other tool call of the session has. */
  nextToolCallId(): string {
    this.#toolCalls += 1
    return `call-${this.session.turnCount}-${this.#toolCalls}`
  }

  /** Keeps an entry for `session/load`, text joined to the text before it. */
  remember(entry: ReplayEntry): void {
    const text = 'text' in entry ? entry.text.slice(0, MAX_REPLAY_CHARS - this.#replayChars) : ''
    this.#replayChars += text.length
    if (entry.kind === 'tool') this.#append(entry)
    else if (text === '') return
    else this.#appendText(entry.kind, text)
  }

  #appendText(kind: 'message' | 'thought', text: string): void {
    const last = this.#replay.at(-1)
    if (last?.kind === kind) this.#replay[this.#replay.length - 1] = { kind, text: last.text + text }
    else this.#append({ kind, text })
  }

  #append(entry: ReplayEntry): void {
    if (this.#replay.length < MAX_REPLAY_ENTRIES) this.#replay.push(entry)
  }

  toStored(): StoredTurn {
    return { prompt: cutText(this.prompt, MAX_REPLAY_CHARS), entries: this.#replay }
  }
}

export const updateMessage = (sessionId: string, update: SessionUpdate): unknown => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId, update },
})
