import { createHash } from 'node:crypto'
import { type AgentInfo, AgentprotoError, randomId, type StoredAgentSession } from '@agentproto/contracts'
import type {
  AgentEnd,
  AgentProcessInfo,
  AgentSink,
  ArmConnection,
  ArmConnectOptions,
  ArmSession,
  Launch,
  OpenSessionOptions,
  ProcessExit,
  ProtocolArm,
} from '@agentproto/contracts/agent'
import { SESSION_MARKER } from '@agentproto/subprocess'
import { unlessAborted } from './unless-aborted.js'

/**
 * Agent processes that hold several sessions each, for agents whose manifest says
 * `metadata.agentproto.process: shared`. Sessions share a process when its executable, arguments and environment are
 * the same; the folder is each session's own, and the process keeps that of the first.
 */
export class SharedProcesses {
  readonly #open = new Map<string, SharedProcess>()

  /**
   * Joins the process for such a launch, or starts it. Closing the connection leaves it; the last one ends it.
   * @throws as {@link ProtocolArm.connect}; a start that several wait for fails for all of them
   */
  connect(arm: ProtocolArm, options: ArmConnectOptions): Promise<ArmConnection> {
    const key = keyOf(options.launch)
    return (this.#open.get(key) ?? this.#start(key, arm, options)).join(options.signal)
  }

  #start(key: string, arm: ProtocolArm, options: ArmConnectOptions): SharedProcess {
    const shared: SharedProcess = new SharedProcess(arm, options, () => {
      if (this.#open.get(key) === shared) this.#open.delete(key)
    })
    this.#open.set(key, shared)
    return shared
  }
}

/** Variables that differ between sessions, and are not set in a shared process. */
const OF_ONE_SESSION: ReadonlySet<string> = new Set([SESSION_MARKER, 'AGENTPROTO_TOKEN', 'TRACEPARENT', 'TRACESTATE'])

/** A digest: the environment holds secrets, and one session's must never reach another's agent. */
function keyOf({ command, args, env }: Launch): string {
  const variables = Object.entries(env).filter(([name]) => !OF_ONE_SESSION.has(name))
  variables.sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([command, args, variables]))
    .digest('hex')
}

/** One process and the sessions that use it. */
class SharedProcess {
  readonly #marker = randomId('shared_')
  readonly #abort = new AbortController()
  readonly #connecting: Promise<ArmConnection>
  readonly #gone: () => void
  /** Sessions that use it, and starts that wait for it. */
  #members = 0

  /** @param gone called when no session may join it any more */
  constructor(arm: ProtocolArm, { launch, ...options }: ArmConnectOptions, gone: () => void) {
    this.#gone = gone
    // A marker of its own: with that of a session, ending another process of that session would end this one.
    const shared = Object.entries(launch.env).filter(([name]) => !OF_ONE_SESSION.has(name))
    const env = { ...Object.fromEntries(shared), [SESSION_MARKER]: this.#marker }
    const own = { ...launch, env, marker: this.#marker }
    this.#connecting = arm.connect({ ...options, launch: own, signal: this.#abort.signal })
    this.#connecting.then(({ ended }) => ended.then(gone), gone)
  }

  async join(signal: AbortSignal): Promise<ArmConnection> {
    this.#members++
    try {
      const connection = await unlessAborted(this.#connecting, signal)
      return new SharedConnection(connection, this.#marker, () => this.#leave())
    } catch (thrown) {
      // No session waits for it any more: it is aborted, and has ended before this rejects.
      if (this.#leave())
        await this.#connecting.then(
          (connection) => connection.close(),
          () => {},
        )
      throw thrown
    }
  }

  /** Returns whether that was the last one. */
  #leave(): boolean {
    if (--this.#members > 0) return false
    this.#gone()
    this.#abort.abort()
    return true
  }
}

/** A shared process as one session sees it. */
class SharedConnection implements ArmConnection {
  readonly info: AgentInfo
  readonly process?: AgentProcessInfo
  readonly ended: Promise<AgentEnd>
  readonly #connection: ArmConnection
  readonly #leave: () => boolean
  readonly #left = new AbortController()
  #session: ArmSession | undefined
  #last = false

  constructor(connection: ArmConnection, marker: string, leave: () => boolean) {
    this.#connection = connection
    this.#leave = leave
    this.info = connection.info
    if (connection.process) this.process = { ...connection.process, marker }
    this.ended = new Promise((resolve) => {
      void connection.ended.then((end) => {
        if (!this.#left.signal.aborted) resolve({ ...end, duringTurn: this.#session?.interrupted ?? end.duringTurn })
      })
    })
  }

  async openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    const opening = this.#connection.openSession(options, sink)
    try {
      this.#session = await unlessAborted(opening, this.#left.signal)
      return this.#session
    } catch (thrown) {
      // A session that opens late has no user and is closed; the process belongs to the other sessions.
      void opening.then((session) => session.close()).catch(() => {})
      throw thrown
    }
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
