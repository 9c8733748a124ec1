import {
  type AgentCapabilities,
  type AgentInfo,
  type AgentNotice,
  AgentprotoError,
  type Clock,
  settlesWithin,
  type StoredAgentSession,
} from '@agentproto/contracts'
import type {
  AgentEnd,
  AgentProcessInfo,
  AgentSink,
  ArmConnection,
  ArmConnectOptions,
  ArmSession,
  KeptLoss,
  OpenSessionOptions,
  ProcessExit,
} from '@agentproto/contracts/agent'
import { checkLaunch, keptProcess, spawnAgentProcess } from '@agentproto/subprocess'
import type { AgentProcess, KeptProcess } from '@agentproto/subprocess'
import type { TurnOutcome } from './conversation.js'
import type { KeptLink } from './idle-point.js'
import { type Handlers, type ProcessWatch, watched } from './process-watch.js'
import { startCancelled, startFailure } from './start-failure.js'

/** How long a broken pipe may precede the exit that explains it, in milliseconds. */
const BROKEN_GRACE_MS = 1_000
/** How long the last signals of a kept agent may take to be stored, in milliseconds. */
const STORED_MS = 5_000
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
  /** The agent outlives this host. Called before anything is read; absent where the client knows no idle points. */
  keep?(link: KeptLink): void
  /** Settles when all that was emitted is stored; absent where nothing outlives the host. */
  stored?(): Promise<void>
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
 * @param watch sees what a process of this host does
 * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`, `handshake_failed`, `auth_required`,
 * `timeout`, `cancelled`; nothing of the agent runs then
 */
export async function connectProcess<Client extends LineClient>(
  options: ArmConnectOptions,
  createClient: (write: WriteLine) => Client,
  watch?: ProcessWatch,
): Promise<ProcessConnection<Client>> {
  const { clock, signal } = options
  if (signal.aborted) throw startCancelled()
  const client = createClient((line) => agent.write(line))
  const { handlers, broken } = pipesOf(client)
  const agent = await start(options, client, watched(handlers, watch))
  watch?.started(agent)
  const lifetime = new ProcessLifetime(agent, client, clock)
  void broken.then(() => lifetime.brokenSoon())
  const abort = (): void => void client.close(startCancelled(), { by: 'host' })
  signal.addEventListener('abort', abort, { once: true })
  try {
    if (signal.aborted) abort()
    return lifetime.connection(await client.initialize())
  } catch (thrown) {
    await lifetime.close()
    throw startFailure(thrown)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** As a child of this host, or where it outlives it. */
async function start(
  { launch, limits, clock, keep }: ArmConnectOptions,
  client: LineClient,
  handlers: Handlers,
): Promise<AgentProcess> {
  const options = { clock, graces: limits, ...handlers }
  if (!keep || !client.keep) return spawnAgentProcess(launch, options)
  checkLaunch(launch)
  const { keeper, key, host = {}, isShared = false } = keep
  const former = await keeper.adopt(key)
  if (former) await endFormer(keptProcess(former, launch.marker, { ...options, onLines: () => {} }))
  const agent = keptProcess(await keeper.spawn(key, launch, ''), launch.marker, options)
  client.keep({ process: agent, host, clock, isShared })
  agent.begin()
  return agent
}

/** Two agents of one session would share its marker, and its conversation. */
async function endFormer(former: KeptProcess): Promise<void> {
  await former.terminate()
  await former.release()
}

/** What a process passes to its client, and a promise that settles when its pipes break. */
export function pipesOf(client: LineClient): { readonly handlers: Handlers; readonly broken: Promise<unknown> } {
  let onBroken = (_reason: string): void => {}
  const broken = new Promise<string>((resolve) => (onBroken = resolve))
  const handlers: Handlers = {
    onLines: client.handleLines.bind(client),
    onStderr: (lines) => client.notify({ type: 'output', stream: 'stderr', text: lines.join('\n') }),
    onOversize: (bytes) => void client.notify(oversize(bytes)),
    onBroken: (reason) => onBroken(reason),
  }
  return { handlers, broken }
}

/** How a connection and its process end: by the agent, by its host, or because the pipes broke. */
export class ProcessLifetime<Client extends LineClient = LineClient> {
  /** Settles when the agent ended by itself and nothing of it runs. */
  readonly ended: Promise<AgentEnd>
  readonly #agent: AgentProcess | KeptProcess
  readonly #client: Client
  readonly #clock: Clock
  #state: 'open' | 'broken' | 'closed' = 'open'
  #loss: KeptLoss | undefined

  constructor(agent: AgentProcess | KeptProcess, client: Client, clock: Clock) {
    this.#clock = clock
    this.#agent = agent
    this.#client = client
    if ('lost' in agent) void agent.lost.then((loss) => (this.#loss = loss))
    this.ended = new Promise((resolve) => {
      void agent.closed.then((exit) => this.#exited(exit, resolve))
    })
  }

  connection(info: AgentInfo): ProcessConnection<Client> {
    const client = this.#client
    return {
      info,
      client,
      process: this.#agent.info,
      ended: this.ended,
      openSession: (opening, sink) => client.openSession(opening, sink),
      ...(client.listSessions === undefined ? {} : { listSessions: client.listSessions.bind(client) }),
      close: () => this.close(),
    }
  }

  close(): Promise<ProcessExit> {
    this.#state = 'closed'
    this.#client.close(new AgentprotoError('session_ended', 'The connection was closed'), { by: 'host' })
    // At the same time: the agent may wait for what is run for it.
    const services = this.#client.closeServices?.()
    const exit = this.#ended()
    return services ? Promise.all([exit, services]).then(() => exit) : exit
  }

  /** An exit usually explains at once why a pipe broke. */
  brokenSoon(): void {
    this.#clock.after(BROKEN_GRACE_MS, () => this.#giveUp())
  }

  /** Ends the process tree; what a keeper has of it is no longer needed. */
  #ended(): Promise<ProcessExit> {
    const agent = this.#agent
    const exit = agent.terminate()
    return 'release' in agent ? exit.then((ended) => agent.release().then(() => ended)) : exit
  }

  /** A pipe broke and no exit explained it: a process that runs on without its pipes is ended. */
  #giveUp(): void {
    if (this.#state !== 'open') return
    this.#state = 'broken'
    void this.#agent.terminate().catch(() => {})
  }

  async #exited(exit: ProcessExit, resolve: (end: AgentEnd) => void): Promise<void> {
    if (this.#state === 'closed') return
    const cause = this.#state === 'broken' || this.#loss ? 'transport' : 'exit'
    const stderrTail = this.#agent.stderrTail()
    const message = cause === 'exit' ? exitMessage(exit, stderrTail) : brokenMessage(this.#loss)
    const data = { ...exit, stderrTail: stderrTail.slice(-ERROR_TAIL) }
    const error = { message, ...(stderrTail === '' ? {} : { stderrTail }) }
    const reason = new AgentprotoError('agent_exited', message, { data })
    const duringTurn = this.#client.close(reason, { by: 'failure', error })
    // The agent has ended when all of its process tree has.
    await Promise.all([this.#agent.terminate().catch(() => {}), this.#client.closeServices?.()])
    await this.#released()
    if (!this.#isClosed()) resolve({ ...exit, duringTurn, cause, message, stderrTail })
  }

  /** A keeper forgets an agent only when its last words are stored. */
  async #released(): Promise<void> {
    if (!('release' in this.#agent)) return
    await settlesWithin(STORED_MS, this.#client.stored?.() ?? Promise.resolve(), this.#clock)
    await this.#agent.release()
  }

  /** A method, because the state may have changed while the caller waited. */
  #isClosed(): boolean {
    return this.#state === 'closed'
  }
}

const brokenMessage = (loss: KeptLoss | undefined): string =>
  loss ? `The agent was lost: ${loss.reason}` : 'The agent closed its pipes without ending'

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
