import { AgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import type {
  AgentCapabilities,
  AgentEnd,
  AgentInfo,
  AgentNotice,
  AgentProcessInfo,
  AgentSink,
  ArmConnection,
  ArmConnectOptions,
  ArmSession,
  OpenSessionOptions,
  ProcessExit,
} from '@agentproto/contracts'
import { spawnAgentProcess } from '@agentproto/subprocess'
import type { AgentProcess } from '@agentproto/subprocess'
import type { TurnOutcome } from './turn.js'

/** How long a broken pipe may precede the exit that explains it, in milliseconds. */
const BROKEN_GRACE_MS = 1_000
/** How much of stderr an error carries, in characters. */
const ERROR_TAIL = 2_048

/** A protocol as its connection uses it: fed with lines, asked for sessions, told of the end. */
export interface LineClient {
  /** Shakes hands. @throws `handshake_failed`, `auth_required`, `timeout` */
  start(): Promise<AgentInfo>
  /** @throws `handshake_failed`, `auth_required`, `not_resumable`, `timeout` */
  openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession>
  /** Takes the lines of one read. The promise is the hosts' back-pressure: nothing is read until it settles. */
  takeLines(lines: readonly string[]): void | Promise<void>
  /** Tells every session of something that happened beside the protocol. */
  tell(notice: AgentNotice): void | Promise<void>
  /**
   * The connection ended: what waits for the agent rejects with `reason`, open turns end with `outcome`.
   * @returns whether a turn was running
   */
  end(reason: AgentprotoError, outcome: TurnOutcome): boolean
  /** Settles once what the client itself runs for the agent is gone; absent where it runs nothing. */
  released?(): Promise<unknown> | undefined
}

/** Writes one line to the agent; the newline is added. */
export type WriteLine = (line: string) => void | Promise<void>

/**
 * Spawns an agent that speaks a line protocol on its stdio, and shakes hands with it.
 * @param createClient is called before the spawn, so that it can import what it needs while the agent boots
 * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`, `handshake_failed`, `auth_required`,
 * `timeout`, `cancelled`; nothing of the agent lives then
 */
export async function connectProcess(
  options: ArmConnectOptions,
  createClient: (write: WriteLine) => LineClient,
): Promise<ArmConnection & { readonly process: AgentProcessInfo }> {
  const { launch, limits, clock, signal } = options
  if (signal.aborted) throw startCancelled()
  let connection: ProcessConnection | undefined
  const client = createClient((line) => agent.write(line))
  const agent = await spawnAgentProcess(launch, {
    clock,
    graces: limits,
    onLines: (lines) => client.takeLines(lines),
    onStderr: (lines) => client.tell({ type: 'output', stream: 'stderr', text: lines.join('\n') }),
    onOversize: (bytes) => void client.tell(oversize(bytes)),
    onBroken: () => connection?.broken(),
  })
  connection = new ProcessConnection(agent, client, options)
  return connection.start(signal)
}

class ProcessConnection implements ArmConnection {
  readonly ended: Promise<AgentEnd>
  readonly process: AgentProcessInfo
  info: AgentInfo = { capabilities: NO_CAPABILITIES }
  readonly #agent: AgentProcess
  readonly #client: LineClient
  readonly #options: ArmConnectOptions
  #closing = false
  /** We ended it because it could not be talked with any more. */
  #givenUp = false

  constructor(agent: AgentProcess, client: LineClient, options: ArmConnectOptions) {
    this.#agent = agent
    this.#client = client
    this.#options = options
    this.process = agent.info
    this.ended = new Promise((resolve) => {
      void agent.closed.then((exit) => this.#exited(exit, resolve))
    })
  }

  /** Shakes hands, or leaves nothing behind. */
  async start(signal: AbortSignal): Promise<this> {
    const abort = (): void => void this.#client.end(startCancelled(), { by: 'host' })
    signal.addEventListener('abort', abort, { once: true })
    try {
      if (signal.aborted) abort()
      this.info = await this.#client.start()
      return this
    } catch (thrown) {
      await this.close()
      throw toAgentprotoError(thrown, 'handshake_failed')
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    return this.#client.openSession(options, sink)
  }

  close(): Promise<ProcessExit> {
    this.#closing = true
    this.#client.end(new AgentprotoError('session_ended', 'The connection was closed'), { by: 'host' })
    // Beside each other: the agent may wait for what is run for it.
    const released = this.#client.released?.()
    const exit = this.#agent.terminate()
    return released ? Promise.all([exit, released]).then(() => exit) : exit
  }

  /** A pipe broke. An exit usually follows; a process that lives on without it is ended. */
  broken(): void {
    this.#options.clock.after(BROKEN_GRACE_MS, () => {
      if (this.#closing || this.#givenUp) return
      this.#givenUp = true
      void this.#agent.terminate().catch(() => {})
    })
  }

  async #exited(exit: ProcessExit, ended: (end: AgentEnd) => void): Promise<void> {
    if (this.#closing) return
    const stderrTail = this.#agent.stderrTail()
    const message = this.#givenUp ? 'The agent closed its pipes without ending' : exitMessage(exit, stderrTail)
    const data = { ...exit, stderrTail: stderrTail.slice(-ERROR_TAIL) }
    const error = { message, ...(stderrTail === '' ? {} : { stderrTail }) }
    const reason = new AgentprotoError('agent_exited', message, { data })
    const duringTurn = this.#client.end(reason, { by: 'failure', error })
    // "Ended" is said of the whole tree: what it left behind goes first.
    await Promise.all([this.#agent.terminate().catch(() => {}), this.#client.released?.()])
    if (!this.#closing) ended({ ...exit, duringTurn, cause: this.#givenUp ? 'transport' : 'exit', message, stderrTail })
  }
}

/** What an agent can before it said anything. */
export const NO_CAPABILITIES: AgentCapabilities = {
  load: false,
  resume: false,
  list: false,
  close: false,
  fork: false,
  image: false,
  audio: false,
  embeddedContext: false,
  mcpHttp: false,
  mcpSse: false,
  additionalDirectories: false,
}

/** The start was aborted by its host. */
export const startCancelled = (): AgentprotoError =>
  new AgentprotoError('cancelled', 'The start of the agent was cancelled')

const oversize = (bytes: number): AgentNotice => ({
  type: 'notice',
  severity: 'error',
  text: `A message of the agent was dropped: it had ${bytes} bytes in one line.`,
})

/** How a process ended, in words. */
export function exitMessage({ exitCode, signal }: ProcessExit, stderrTail: string): string {
  const how = signal === undefined ? `ended with exit code ${exitCode ?? 'unknown'}` : `was ended by ${signal}`
  const last = stderrTail.trimEnd().split('\n').at(-1)?.slice(0, 300)
  return last ? `The agent ${how}; its last words: ${last}` : `The agent ${how}`
}
