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
import { DemoSession, MODELS, MODES, type SessionDefaults, type SessionRoots } from './session.js'
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

/** The settings of a session, as the answers to new, load and resume report them. */
type SessionSettings = Pick<NewSessionResponse, 'modes' | 'configOptions'>

/** The open sessions of the process, and what the protocol can do with them. */
export class Conversations {
  clientCapabilities: ClientCapabilities = {}
  readonly #options: ConversationsOptions
  readonly #open = new Map<string, DemoSession>()

  constructor(options: ConversationsOptions) {
    this.#options = options
  }

  create(params: NewSessionRequest): NewSessionResponse {
    const session = this.#adopt(newSession(params.cwd, this.#options.defaults), params)
    this.#save(session)
    return { sessionId: session.id, ...settings(session) }
  }

  /** The history goes out before the answer does. */
  load(params: LoadSessionRequest): SessionSettings {
    const session = this.#reopen(params)
    for (const update of replayUpdates(session.turns)) this.#options.output.message(updateMessage(session.id, update))
    return settings(session)
  }

  resume(params: ResumeSessionRequest): SessionSettings {
    return settings(this.#reopen(params))
  }

  /** A new conversation that remembers the other one's turns. */
  fork(params: ResumeSessionRequest): NewSessionResponse {
    const open = this.#open.get(params.sessionId)
    const stored = open?.toStored() ?? this.#options.store.read(params.sessionId)
    if (!stored) throw RequestError.sessionNotFound(params.sessionId)
    const { modeId, modelId, turnCount, turns } = stored
    const created = newSession(params.cwd, { modeId, modelId })
    const session = this.#adopt({ ...created, turnCount, turns }, params)
    this.#save(session)
    return { sessionId: session.id, ...settings(session) }
  }

  list(cwd: string | undefined): SessionInfo[] {
    this.#options.store.flush()
    const stored = this.#options.store.list().filter((session) => cwd === undefined || session.cwd === cwd)
    const newestFirst = [...stored].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
    return newestFirst.map((one) => sessionInfo(new DemoSession(one)))
  }

  close(sessionId: string): Record<string, never> {
    const session = this.#get(sessionId)
    session.cancel()
    this.#options.store.flush()
    this.#open.delete(sessionId)
    return {}
  }

  setMode(sessionId: string, modeId: string): Record<string, never> {
    const session = this.#get(sessionId)
    this.#changeMode(session, modeId)
    return {}
  }

  setOption(params: SetSessionConfigOptionRequest): { configOptions: ReturnType<DemoSession['configOptions']> } {
    const session = this.#get(params.sessionId)
    const { configId, value } = params
    if (configId === 'mode') this.#changeMode(session, String(value))
    else if (configId === 'model') session.modelId = knownId(MODELS, String(value), 'model')
    else throw RequestError.invalidParams({ configId }, 'unknown config option')
    this.#save(session)
    return { configOptions: session.configOptions() }
  }

  #changeMode(session: DemoSession, modeId: string): void {
    session.modeId = knownId(MODES, modeId, 'mode')
    const update = { sessionUpdate: 'current_mode_update', currentModeId: session.modeId } as const
    this.#options.output.message(updateMessage(session.id, update))
    this.#save(session)
  }

  async prompt(params: PromptRequest, client: AgentContext): Promise<PromptResponse> {
    const session = this.#get(params.sessionId)
    const signal = session.begin()
    if (!signal) throw RequestError.invalidRequest({ sessionId: session.id }, 'a turn is already running')
    const { output, lifecycle } = this.#options
    const around = { client, clientCapabilities: this.clientCapabilities, output, lifecycle }
    const turn = new Turn({ session, prompt: promptText(params.prompt), signal }, around)
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

  #reopen(params: SessionRoots & { readonly sessionId: string; readonly cwd: string }): DemoSession {
    const open = this.#open.get(params.sessionId)
    const stored = open?.toStored() ?? this.#options.store.read(params.sessionId)
    if (!stored) throw RequestError.sessionNotFound(params.sessionId)
    open?.cancel()
    return this.#adopt({ ...stored, cwd: params.cwd }, params)
  }

  #adopt(stored: StoredSession, roots: SessionRoots): DemoSession {
    if (this.#open.size >= MAX_OPEN) throw RequestError.internalError({}, `${MAX_OPEN} sessions are open already`)
    const session = new DemoSession(stored, roots)
    this.#open.set(session.id, session)
    return session
  }

  #save(session: DemoSession): void {
    this.#options.store.saveSoon(session.id, () => session.toStored())
  }
}

function newSession(cwd: string, { modeId, modelId }: SessionDefaults): StoredSession {
  const updatedAt = new Date().toISOString()
  return {
    version: 1,
    sessionId: `demo-${crypto.randomUUID()}`,
    cwd,
    modeId,
    modelId,
    updatedAt,
    turnCount: 0,
    turns: [],
  }
}

const settings = (session: DemoSession): SessionSettings => ({
  modes: session.modeState(),
  configOptions: session.configOptions(),
})

function sessionInfo({ id: sessionId, cwd, updatedAt, title }: DemoSession): SessionInfo {
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
