import {
  RequestError,
  type AgentContext,
  type ClientCapabilities,
  type LoadSessionRequest,
  type NewSessionRequest,
  type NewSessionResponse,
  type PromptRequest,
  type PromptResponse,
  type ResumeSessionRequest,
  type SessionInfo,
  type SetSessionConfigOptionRequest,
  type StopReason,
} from '@agentclientprotocol/sdk'
import { answerPrompt } from './answer-prompt.js'
import type { Lifecycle } from './lifecycle.js'
import type { Output } from './output.js'
import { promptText } from './prompt-text.js'
import { replayUpdates } from './replay.js'
import type { SessionStore } from './session-store.js'
import { DemoSession, MODELS, MODES, titleOf } from './session.js'
import type { SessionDefaults, SessionRoots, SessionSettings } from './session.js'
import type { StoredSession } from './stored-session.js'
import { Turn, updateMessage, type TurnAnswer } from './turn.js'

/** Sessions open at once in one process. */
const MAX_OPEN = 1_000

export interface ConversationsOptions {
  readonly defaults: SessionDefaults
  readonly store: SessionStore
  readonly output: Output
  readonly lifecycle: Lifecycle
}

/** The open sessions of the process, and what the protocol can do with them. */
export class Conversations {
  clientCapabilities: ClientCapabilities = {}
  readonly #options: ConversationsOptions
  readonly #open = new Map<string, DemoSession>()

  constructor(options: ConversationsOptions) {
    this.#options = options
  }

  create(params: NewSessionRequest): NewSessionResponse {
    return this.#begin(newState(params.cwd, this.#options.defaults), params)
  }

  /** The history goes out before the answer does. */
  load(params: LoadSessionRequest): SessionSettings {
    const session = this.#reopen(params)
    for (const update of replayUpdates(session.state.turns))
      this.#options.output.message(updateMessage(session.id, update))
    return session.settings()
  }

  resume(params: ResumeSessionRequest): SessionSettings {
    return this.#reopen(params).settings()
  }

  /** A new conversation that remembers the other one's turns. */
  fork(params: ResumeSessionRequest): NewSessionResponse {
    const { turnCount, turns, ...settings } = this.#stateOf(params.sessionId)
    return this.#begin({ ...newState(params.cwd, settings), turnCount, turns }, params)
  }

  list(cwd: string | undefined): SessionInfo[] {
    this.#options.store.flush()
    const stored = this.#options.store.list().filter((session) => cwd === undefined || session.cwd === cwd)
    return stored.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)).map(sessionInfo)
  }

  close(sessionId: string): Record<string, never> {
    const session = this.#get(sessionId)
    session.cancel()
    this.#options.store.flush()
    this.#open.delete(sessionId)
    return {}
  }

  setMode(sessionId: string, modeId: string): Record<string, never> {
    this.#changeMode(this.#get(sessionId), modeId)
    return {}
  }

  setOption(params: SetSessionConfigOptionRequest): Pick<SessionSettings, 'configOptions'> {
    const session = this.#get(params.sessionId)
    const { configId, value } = params
    if (configId === 'mode') this.#changeMode(session, String(value))
    else if (configId === 'model') session.set({ modelId: knownId(MODELS, String(value), 'model') })
    else throw RequestError.invalidParams({ configId }, 'unknown config option')
    this.#save(session)
    return { configOptions: session.settings().configOptions }
  }

  #changeMode(session: DemoSession, modeId: string): void {
    session.set({ modeId: knownId(MODES, modeId, 'mode') })
    const update = { sessionUpdate: 'current_mode_update', currentModeId: modeId } as const
    this.#options.output.message(updateMessage(session.id, update))
    this.#save(session)
  }

  async prompt(params: PromptRequest, client: AgentContext): Promise<PromptResponse> {
    const session = this.#get(params.sessionId)
    const signal = session.begin()
    if (!signal) throw RequestError.invalidRequest({ sessionId: session.id }, 'a turn is already running')
    const { output, lifecycle } = this.#options
    const around = { signal, client, clientCapabilities: this.clientCapabilities, output, lifecycle }
    const turn = new Turn(session, promptText(params.prompt), around)
    try {
      await answerPrompt(turn)
      return promptResponse(turn.answer)
    } finally {
      session.end(turn.toStored())
      this.#save(session)
    }
  }

  cancel(sessionId: string): void {
    this.#open.get(sessionId)?.cancel()
  }

  /** Ends every turn and what it runs, and writes what is to be remembered. */
  shutDown(): void {
    for (const session of this.#open.values()) session.cancel()
    this.#options.store.flush()
  }

  #get(sessionId: string): DemoSession {
    const session = this.#open.get(sessionId)
    if (!session) throw RequestError.sessionNotFound(sessionId)
    return session
  }

  #stateOf(sessionId: string): StoredSession {
    const state = this.#open.get(sessionId)?.state ?? this.#options.store.read(sessionId)
    if (!state) throw RequestError.sessionNotFound(sessionId)
    return state
  }

  #begin(state: StoredSession, roots: SessionRoots): NewSessionResponse {
    const session = this.#adopt(state, roots)
    this.#save(session)
    return { sessionId: session.id, ...session.settings() }
  }

  #reopen(params: SessionRoots & { readonly sessionId: string; readonly cwd: string }): DemoSession {
    const state = this.#stateOf(params.sessionId)
    this.#open.get(params.sessionId)?.cancel()
    return this.#adopt({ ...state, cwd: params.cwd }, params)
  }

  #adopt(state: StoredSession, roots: SessionRoots): DemoSession {
    if (this.#open.size >= MAX_OPEN) throw RequestError.internalError({}, `${MAX_OPEN} sessions are open already`)
    const session = new DemoSession(state, roots)
    this.#open.set(session.id, session)
    return session
  }

  #save(session: DemoSession): void {
    this.#options.store.saveSoon(session.id, () => session.state)
  }
}

function newState(cwd: string, { modeId, modelId }: SessionDefaults): StoredSession {
  const sessionId = `demo-${crypto.randomUUID()}`
  const updatedAt = new Date().toISOString()
  return { version: 1, sessionId, cwd, modeId, modelId, updatedAt, turnCount: 0, turns: [] }
}

function sessionInfo(state: StoredSession): SessionInfo {
  const { sessionId, cwd, updatedAt } = state
  const title = titleOf(state)
  return { sessionId, cwd, updatedAt, ...(title !== undefined && { title }) }
}

function knownId(values: readonly { readonly id: string }[], id: string, what: string): string {
  if (values.some((value) => value.id === id)) return id
  throw RequestError.invalidParams({ [what]: id }, `unknown ${what}`)
}

/** The word `stop` may have named a reason that the protocol does not know: to send it is its purpose. */
function promptResponse({ stopReason, usage }: TurnAnswer): PromptResponse {
  return { stopReason: stopReason as StopReason, ...(usage && { usage }) }
}
