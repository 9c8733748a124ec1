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
export type SessionDefaults = Pick<StoredSession, 'modeId' | 'modelId'>

/** What a client passes each time it opens a session. */
export interface SessionRoots {
  readonly additionalDirectories?: readonly string[] | undefined
  readonly mcpServers?: readonly McpServer[] | undefined
}

/** Turns that a session remembers; the oldest go first. */
const MAX_TURNS = 100
const MAX_TITLE_CHARS = 80

/** The settings of a session, as the answers to new, load and resume report them. */
export interface SessionSettings {
  readonly modes: SessionModeState
  readonly configOptions: SessionConfigOption[]
}

/** One conversation: what is remembered of it, and the turn that runs. */
export class DemoSession {
  /** What outlives the process. */
  state: StoredSession
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  /** Tools that were allowed for the rest of the session. */
  readonly alwaysAllowed: Set<string> = new Set()
  #running: AbortController | undefined

  constructor(state: StoredSession, { additionalDirectories = [], mcpServers = [] }: SessionRoots) {
    this.state = state
    this.additionalDirectories = additionalDirectories
    this.mcpServers = mcpServers
  }

  get id(): string {
    return this.state.sessionId
  }

  /** Begins a turn; nothing is returned while one runs. */
  begin(): AbortSignal | undefined {
    if (this.#running) return undefined
    this.#running = new AbortController()
    this.state = { ...this.state, turnCount: this.state.turnCount + 1 }
    return this.#running.signal
  }

  /** Ends the running turn and remembers it. */
  end(turn: StoredTurn): void {
    this.#running = undefined
    const turns = [...this.state.turns.slice(1 - MAX_TURNS), turn]
    this.state = { ...this.state, updatedAt: new Date().toISOString(), turns }
  }

  cancel(): void {
    this.#running?.abort()
  }

  set(settings: Partial<SessionDefaults>): void {
    this.state = { ...this.state, ...settings }
  }

  settings(): SessionSettings {
    const { modeId, modelId } = this.state
    return {
      modes: { currentModeId: modeId, availableModes: [...MODES] },
      configOptions: [
        { type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue: modeId, options: choices(MODES) },
        {
          type: 'select',
          id: 'model',
          name: 'Model',
          category: 'model',
          currentValue: modelId,
          options: choices(MODELS),
        },
      ],
    }
  }
}

type Choice = (typeof MODES | typeof MODELS)[number]

const choices = (values: readonly Choice[]): { value: string; name: string; description: string }[] =>
  values.map(({ id, name, description }) => ({ value: id, name, description }))

/** A conversation begins with what it asked first. */
export const titleOf = ({ turns: [first] }: StoredSession): string | undefined =>
  first && cutText(first.prompt, MAX_TITLE_CHARS)
