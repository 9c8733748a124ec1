import {
  type AgentInfo,
  AgentprotoError,
  type Clock,
  type ContentBlock,
  settlesWithin,
  type SessionSandbox,
  type StoredAgentSession,
  type TraceContext,
} from '@agentproto/contracts'
import type {
  AgentEnd,
  AgentProcessInfo,
  ArmConnection,
  ArmSession,
  ConfigChange,
  ProcessExit,
  RunningAgent,
} from '@agentproto/contracts/agent'
import type { LaunchGuard } from './launch-guard.js'

/** How long a running turn may take to be cancelled before the agent is ended, in milliseconds. */
const CANCEL_MS = 1_000
/** How long the protocol's own close may take, in milliseconds. */
const CLOSE_MS = 500

export interface StartedAgentOptions {
  readonly clock: Clock
  /** Keeps secrets out of what the agent answers to calls, and of how it refuses them. */
  readonly guard: Pick<LaunchGuard, 'answer'>
  /** What the agent reports of itself. */
  readonly info: AgentInfo
  /** Settles when the agent ended by itself. */
  readonly ended: Promise<AgentEnd>
  /** Of the launch, beside those of the session. */
  readonly warnings: readonly string[]
  readonly sandbox: SessionSandbox
  /** The instructions went by a channel of the agent's own. */
  readonly instructed: boolean
  /** It outlives its host. */
  readonly kept?: boolean
  /** Frees what was made for the process, once it is gone. Idempotent. */
  readonly release: () => Promise<void>
}

/** One agent process with the one session that it was started for. */
export class StartedAgent implements RunningAgent {
  readonly info: AgentInfo
  readonly process?: AgentProcessInfo
  readonly sandbox: SessionSandbox
  readonly instructed: boolean
  readonly kept: boolean
  readonly warnings: readonly string[]
  readonly ended: Promise<AgentEnd>
  readonly #release: () => Promise<void>
  readonly #connection: ArmConnection
  readonly #session: ArmSession
  readonly #clock: Clock
  readonly #guard: Pick<LaunchGuard, 'answer'>
  #turn: Promise<void> | undefined
  #stopping: Promise<ProcessExit> | undefined

  constructor(connection: ArmConnection, session: ArmSession, options: StartedAgentOptions) {
    const { clock, guard, info, ended, sandbox, instructed, kept = false, warnings, release } = options
    this.#release = release
    this.instructed = instructed
    this.kept = kept
    this.sandbox = sandbox
    this.#connection = connection
    this.#session = session
    this.#clock = clock
    this.#guard = guard
    this.info = info
    this.warnings = [...warnings, ...session.warnings]
    this.ended = ended
    void this.ended.then(release)
    if (connection.process) this.process = connection.process
  }

  get agentSessionId(): string {
    return this.#session.agentSessionId
  }

  async send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void> {
    const turn = this.#session.send(prompt, trace)
    // A refused second prompt must not hide the running turn.
    const before = this.#turn
    this.#turn = turn
    try {
      await turn
    } catch (refused) {
      this.#turn = before
      throw refused
    }
    if (this.#turn === turn) this.#turn = undefined
  }

  /** A turn that an earlier host has begun. */
  protected goOn(turn: Promise<void>): void {
    this.#turn = turn
    void turn.then(() => {
      if (this.#turn === turn) this.#turn = undefined
    })
  }

  cancel(): Promise<void> {
    return this.#guard.answer(this.#session.cancel())
  }

  configure(change: ConfigChange): Promise<void> {
    return this.#guard.answer(this.#session.configure(change))
  }

  async storedSessions(cwd?: string): Promise<readonly StoredAgentSession[]> {
    if (!this.#connection.listSessions)
      throw new AgentprotoError('not_supported', 'The agent does not list its sessions')
    return this.#guard.answer(this.#connection.listSessions(cwd))
  }

  stop(): Promise<ProcessExit> {
    this.#stopping ??= this.#stop().catch((failed: unknown) => {
      // Something of it is running: the next stop tries again.
      this.#stopping = undefined
      throw failed
    })
    return this.#stopping
  }

  /** An agent that does not answer a cancel is not asked to close: together they may take a second and a half. */
  async #stop(): Promise<ProcessExit> {
    const cancelled = await this.#cancelTurn()
    if (cancelled) await settlesWithin(CLOSE_MS, this.#session.close(), this.#clock)
    const exit = await this.#connection.close()
    await this.#release()
    return exit
  }

  async #cancelTurn(): Promise<boolean> {
    const turn = this.#turn
    if (!turn) return true
    await this.#session.cancel()
    return settlesWithin(CANCEL_MS, turn, this.#clock)
  }
}
