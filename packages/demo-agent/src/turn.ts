import type { AgentContext, ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk'
import { cutText } from './bounded-text.js'
import type { Lifecycle } from './lifecycle.js'
import type { Output } from './output.js'
import type { DemoSession } from './session.js'
import type { ReplayEntry, StoredTurn } from './stored-session.js'

/** Text that a turn keeps for a replay, in UTF-16 units, and entries; what is beyond is not replayed. */
const MAX_REPLAY_CHARS = 8_192
const MAX_REPLAY_ENTRIES = 50

/** What a word can use beside the session. */
export interface TurnSurroundings {
  /** Aborts on `session/cancel` and when the agent ends. */
  readonly signal: AbortSignal
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
export class Turn {
  readonly session: DemoSession
  readonly prompt: string
  readonly around: TurnSurroundings
  readonly answer: TurnAnswer = { stopReason: 'end_turn' }
  #toolCalls = 0
  #replay: ReplayEntry[] = []
  #replayChars = 0

  constructor(session: DemoSession, prompt: string, around: TurnSurroundings) {
    this.session = session
    this.prompt = prompt
    this.around = around
  }

  get signal(): AbortSignal {
    return this.around.signal
  }

  say(text: string, kind: 'message' | 'thought' = 'message'): void {
    this.update(textUpdate(`agent_${kind}`, text))
    this.remember({ kind, text })
  }

  update(update: SessionUpdate): void {
    this.around.output.message(updateMessage(this.session.id, update))
  }

  /** An id that no other tool call of the session has. */
  nextToolCallId(): string {
    this.#toolCalls += 1
    return `call-${this.session.state.turnCount}-${this.#toolCalls}`
  }

  /** Keeps an entry for `session/load`, text joined to the text before it. */
  remember(entry: ReplayEntry): void {
    if (entry.kind === 'tool') return this.#append(entry)
    const text = entry.text.slice(0, MAX_REPLAY_CHARS - this.#replayChars)
    if (text === '') return
    this.#replayChars += text.length
    const last = this.#replay.at(-1)
    if (last?.kind === entry.kind) this.#replay.splice(-1, 1, { kind: last.kind, text: last.text + text })
    else this.#append({ kind: entry.kind, text })
  }

  #append(entry: ReplayEntry): void {
    if (this.#replay.length < MAX_REPLAY_ENTRIES) this.#replay.push(entry)
  }

  toStored(): StoredTurn {
    return { prompt: cutText(this.prompt, MAX_REPLAY_CHARS), entries: this.#replay }
  }
}

export const textUpdate = (who: 'user_message' | 'agent_message' | 'agent_thought', text: string): SessionUpdate => ({
  sessionUpdate: `${who}_chunk`,
  content: { type: 'text', text },
})

export const updateMessage = (sessionId: string, update: SessionUpdate): unknown => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId, update },
})
