import { type AgentInfo, AgentprotoError, type StoredAgentSession } from '@agentproto/contracts'
import type {
  AgentEnd,
  AgentProcessInfo,
  AgentSink,
  ArmConnection,
  ArmConnectOptions,
  ArmSession,
  OpenSessionOptions,
  ProcessExit,
} from '@agentproto/contracts/agent'
import { unlessAborted } from './unless-aborted.js'

interface SharedConnectionOptions {
  readonly marker: string
  readonly isKept: boolean
  readonly leave: () => boolean
  readonly keep?: NonNullable<ArmConnectOptions['keep']>
}

/** A shared process as one session sees it. */
export class SharedConnection implements ArmConnection {
  readonly info: AgentInfo
  readonly process?: AgentProcessInfo
  readonly ended: Promise<AgentEnd>
  /** Whether the process outlives this host. */
  readonly isKept: boolean
  readonly #connection: ArmConnection
  readonly #leave: () => boolean
  readonly #keep: OpenSessionOptions['keep']
  readonly #left = new AbortController()
  #session: ArmSession | undefined
  #last = false

  constructor(connection: ArmConnection, { marker, isKept, leave, keep }: SharedConnectionOptions) {
    this.#connection = connection
    this.#leave = leave
    this.#keep = keep && { key: keep.key, host: keep.host ?? {} }
    this.isKept = isKept
    this.info = connection.info
    if (connection.process) this.process = { ...connection.process, marker }
    this.ended = new Promise((resolve) => {
      void connection.ended.then((end) => {
        if (!this.#left.signal.aborted) resolve({ ...end, duringTurn: this.#session?.interrupted ?? end.duringTurn })
      })
    })
  }

  async openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    const keep = this.#keep
    const opening = this.#connection.openSession({ ...options, ...(keep && { keep }) }, sink)
    try {
      this.#session = await unlessAborted(opening, this.#left.signal)
      return this.#session
    } catch (thrown) {
      // A session that opens late has no user and is closed; the process belongs to the other sessions.
      void opening.then((session) => session.close()).catch(() => {})
      throw thrown
    }
  }

  /** Goes on with a session that an earlier host has opened. */
  goOn(session: ArmSession): void {
    this.#session = session
  }

  async listSessions(cwd?: string): Promise<readonly StoredAgentSession[]> {
    if (!this.#connection.listSessions)
      throw new AgentprotoError('not_supported', 'The agent does not list its sessions')
    return this.#connection.listSessions(cwd)
  }

  /** Ends the process with its last session; the others are not touched. */
  close(): Promise<ProcessExit> {
    if (!this.#left.signal.aborted) {
      this.#left.abort()
      this.#last = this.#leave()
    }
    if (this.#last) return this.#connection.close()
    // The close may have timed out before: it is sent again without waiting for the answer.
    void this.#session?.close().catch(() => {})
    return Promise.resolve({})
  }
}
