import {
  type AgentCapabilities,
  type AgentInfo,
  type AgentNotice,
  AgentprotoError,
  type StoredAgentSession,
} from '@agentproto/contracts'
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
import { spawnAgentProcess } from '@agentproto/subprocess'
import type { AgentProcess } from '@agentproto/subprocess'
import type { TurnOutcome } from './conversation.js'
import { startCancelled, startFailure } from './start-failure.js'

/** How long a broken pipe may precede the exit that explains it, in milliseconds. */
const BROKEN_GRACE_MS = 1_000
/** How much of stderr an error carries, in characters. */
const ERROR_TAIL = 2_048

/** A line protocol as its connection uses it. */
export interface LineClient {
  /** @throws `handshake_failed`, `auth_required`, `timeout` */
  initialize(): Promise<AgentInfo>
  /** @throws `handshake_failed`, `auth_required`, `not_resumable`, `timeout` */
  openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession>
  /** Present where the protocol can list what the agent has stored. @throws `not_supported` */
  listSessions?(cwd?: string): Promise<readonly StoredAgentSession[]>
  /** Handles the lines of one read. The promise is the host's back-pressure: nothing is read until it settles. */
  handleLines(lines: readonly string[]): void | Promise<void>
  /** Passes a notice that is not part of the protocol to every session. */
  notify(notice: AgentNotice): void | Promise<void>
  /**
   * The connection ended: what waits for the agent rejects with `reason`, running turns end with `outcome`.
   * @returns whether a turn was running
   */
  close(reason: AgentprotoError, outcome: TurnOutcome): boolean
  /** Ends what the client itself runs for the agent; absent where it runs nothing. */
  closeServices?(): Promise<unknown> | undefined
}

/** A connection to a process, with the client that speaks its protocol. */
export interface ProcessConnection<Client extends LineClient> extends ArmConnection {
  readonly process: AgentProcessInfo
  readonly client: Client
}

/** Writes one line to the agent; the newline is added. */
export type WriteLine = (line: string) => void | Promise<void>

/**
 * Spawns an agent that speaks a line protocol on its stdio, and initializes the protocol.
 * @param createClient is called before the spawn, so that it can import what it needs while the agent boots
 * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`, `handshake_failed`, `auth_required`,
 * `timeout`, `cancelled`; nothing of the agent runs then
 */
export async function connectProcess<Client extends LineClient>(
  options: ArmConnectOptions,
  createClient: (write: WriteLine) => Client,
): Promise<ProcessConnection<Client>> {
  const { launch, limits, clock, signal } = options
  if (signal.aborted) throw startCancelled()
  let onBroken = (): void => {}
  const client = createClient((line) => agent.write(line))
  const agent = await spawnAgentProcess(launch, {
    clock,
    graces: limits,
    onLines: client.handleLines.bind(client),
    onStderr: (lines) => client.notify({ type: 'output', stream: 'stderr', text: lines.join('\n') }),
    onOversize: (bytes) => void client.notify(oversize(bytes)),
    onBroken: () => onBroken(),
  })
  const lifetime = new ProcessLifetime(agent, client)
  onBroken = () => clock.after(BROKEN_GRACE_MS, () => lifetime.giveUp())
  const abort = (): void => void client.close(startCancelled(), { by: 'host' })
  signal.addEventListener('abort', abort, { once: true })
  try {
    if (signal.aborted) abort()
    const info = await client.initialize()
    return {
      info,
      client,
      process: agent.info,
      ended: lifetime.ended,
      openSession: (opening, sink) => client.openSession(opening, sink),
      ...(client.listSessions === undefined ? {} : { listSessions: client.listSessions.bind(client) }),
      close: () => lifetime.close(),
    }
  } catch (thrown) {
    await lifetime.close()
    throw startFailure(thrown)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** How a connection and its process end: by the agent, by its host, or because the pipes broke. */
class ProcessLifetime {
  /** Settles when the agent ended by itself and nothing of it runs. */
  readonly ended: Promise<AgentEnd>
  readonly #agent: AgentProcess
  readonly #client: LineClient
  #state: 'open' | 'broken' | 'closed' = 'open'

  constructor(agent: AgentProcess, client: LineClient) {
    this.#agent = agent
    this.#client = client
    this.ended = new Promise((resolve) => {
      void agent.closed.then((exit) => this.#exited(exit, resolve))
    })
  }

  close(): Promise<ProcessExit> {
    this.#state = 'closed'
    this.#client.close(new AgentprotoError('session_ended', 'The connection was closed'), { by: 'host' })
    // At the same time: the agent may wait for what is run for it.
    const services = this.#client.closeServices?.()
    const exit = this.#agent.terminate()
    return services ? Promise.all([exit, services]).then(() => exit) : exit
  }

  /** A pipe broke and no exit explained it: a process that runs on without its pipes is ended. */
  giveUp(): void {
    if (this.#state !== 'open') return
    this.#state = 'broken'
    void this.#agent.terminate().catch(() => {})
  }

  async #exited(exit: ProcessExit, resolve: (end: AgentEnd) => void): Promise<void> {
    if (this.#state === 'closed') return
    const cause = this.#state === 'broken' ? 'transport' : 'exit'
    const stderrTail = this.#agent.stderrTail()
    const message = cause === 'transport' ? 'The agent closed its pipes without ending' : exitMessage(exit, stderrTail)
    const data = { ...exit, stderrTail: stderrTail.slice(-ERROR_TAIL) }
    const error = { message, ...(stderrTail === '' ? {} : { stderrTail }) }
    const reason = new AgentprotoError('agent_exited', message, { data })
    const duringTurn = this.#client.close(reason, { by: 'failure', error })
    // The agent has ended when all of its process tree has.
    await Promise.all([this.#agent.terminate().catch(() => {}), this.#client.closeServices?.()])
    if (!this.#isClosed()) resolve({ ...exit, duringTurn, cause, message, stderrTail })
  }

  /** A method, because the state may have changed while the caller waited. */
  #isClosed(): boolean {
    return this.#state === 'closed'
  }
}

/** The capabilities of an agent that has not reported any. */
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

const oversize = (bytes: number): AgentNotice => ({
  type: 'notice',
  severity: 'error',
  text: `A message of the agent was dropped: it had ${bytes} bytes in one line.`,
})

/** How a process ended, in words. */
export function exitMessage({ exitCode, signal }: ProcessExit, stderrTail: string): string {
  const how = signal === undefined ? `ended with exit code ${exitCode ?? 'unknown'}` : `was ended by ${signal}`
  const last = lastWords(stderrTail)
  return last ? `The agent ${how}; its last words: ${last}` : `The agent ${how}`
}

/** The last line that begins like an error, since a stack trace or the values of a query may follow it; else the last line. */
function lastWords(stderrTail: string): string | undefined {
  const lines = stderrTail.trimEnd().split('\n')
  return (lines.findLast((line) => BEGINS_LIKE_AN_ERROR.test(line)) ?? lines.at(-1))?.trim().slice(0, 300)
}

const BEGINS_LIKE_AN_ERROR = /^\W*(\w*(error|exception)\b|panic|fatal|failed|cannot|could not|unable)/i
