import type { McpServer, SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import { cutText } from './bounded-text.js'
import type { StoredSession, StoredTurn } from './stored-session.js'

export const MODES = [
  { id: 'default', name: 'Default', description: 'Does what the words say' },
  { id: 'plan', name: 'Plan', description: 'Only says what it would write or run' },
] as const
export const MODELS = [
  { id: 'demo-1', name: 'Demo One', description: 'Context of 100,000 tokens', contextTokens: 100_000 },
  { id: 'demo-2', name: 'Demo Two', description: 'Context of 200,000 tokens', contextTokens: 200_000 },
] as const

/** What a new session is set to. */
export interface SessionDefaults {
  readonly modeId: string
  readonly modelId: string
}

/** What a client passes each time it opens a session. */
export interface SessionRoots {
  readonly additionalDirectories?: readonly string[] | undefined
  readonly mcpServers?: readonly McpServer[] | undefined
}

/** Turns that a session remembers; the oldest go first. */
const MAX_TURNS = 100
const MAX_TITLE_CHARS = 80

/** One conversation: its settings, its memory, and the turn that runs. */
export class DemoSession {
  readonly id: string
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  modeId: string
  modelId: string
  updatedAt: string
  /** Turns of the whole life of the session, also those it no longer remembers. */
  turnCount: number
  turns: readonly StoredTurn[]
  /** Tools that were allowed for the rest of the session. */
  readonly alwaysAllowed: Set<string> = new Set()
  #running: AbortController | undefined

  constructor(stored: StoredSession, { additionalDirectories = [], mcpServers = [] }: SessionRoots = {}) {
    this.id = stored.sessionId
    this.cwd = stored.cwd
    this.additionalDirectories = additionalDirectories
    this.mcpServers = mcpServers
    this.modeId = stored.modeId
    this.modelId = stored.modelId
    this.updatedAt = stored.updatedAt
    this.turnCount = stored.turnCount
    this.turns = stored.turns
  }

  get title(): string | undefined {
    const first = this.turns[0]
    return first && cutText(first.prompt, MAX_TITLE_CHARS)
  }

  /** Begins a turn; nothing is returned while one runs. */
  begin(): AbortSignal | undefined {
    if (this.#running) return undefined
    this.#running = new AbortController()
    this.turnCount += 1
    return this.#running.signal
  }

  /** Ends the running turn and remembers it. */
  end(turn: StoredTurn): void {
    this.#running = undefined
    this.updatedAt = new Date().toISOString()
    this.turns = [...this.turns.slice(1 - MAX_TURNS), turn]
  }

  cancel(): void {
    this.#running?.abort()
  }

  toStored(): StoredSession {
    const { id: sessionId, cwd, modeId, modelId, updatedAt, turnCount, turns } = this
    return { version: 1, sessionId, cwd, modeId, modelId, updatedAt, turnCount, turns }
  }

  modeState(): SessionModeState {
    return { currentModeId: this.modeId, availableModes: [...MODES] }
  }

  configOptions(): SessionConfigOption[] {
    return [
      select({ id: 'mode', name: 'Mode', category: 'mode', currentValue: this.modeId, values: MODES }),
      select({ id: 'model', name: 'Model', category: 'model', currentValue: this.modelId, values: MODELS }),
    ]
  }
}

interface Choice {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly currentValue: string
  readonly values: readonly { readonly id: string; readonly name: string; readonly description: string }[]
}

function select({ values, ...option }: Choice): SessionConfigOption {
  const options = values.map(({ id, name, description }) => ({ value: id, name, description }))
  return { type: 'select', ...option, options }
}
