import { exitMessage, NO_CAPABILITIES, notResumable, startCancelled, startFailure, within } from '@agentproto/arm-kit'
import { type AgentInfo, AgentprotoError, asRecord, asString, defined, isAgentprotoError } from '@agentproto/contracts'
import type {
  AgentCliEnd,
  AgentCliInfo,
  AgentEnd,
  AgentSink,
  ArmConnection,
  ArmConnectOptions,
  ArmSession,
  OpenSessionOptions,
  ProcessExit,
  ProtocolArm,
} from '@agentproto/contracts/agent'
import { endProcesses, findMarkedProcesses } from '@agentproto/subprocess'
import { loadClient } from './load-adapter.js'
import type { LoadedClient } from './load-adapter.js'
import { parseProfile } from './profile.js'
import type { ProprietaryProfile } from './profile.js'
import { ProprietarySession } from './session.js'

/** What an adapter's `close` may take beyond the ladder of its own process, in milliseconds. */
const CLOSE_SLACK_MS = 2_500

/** An agent that an adapter package drives (AIP-45 `protocol: proprietary`). */
export const proprietaryArm: ProtocolArm = { protocol: 'proprietary', connect: connectProprietary }

/**
 * Loads the adapter, if the host allows it, and connects. `options.profile` is a {@link ProprietaryProfile}.
 * @throws `protocol_unsupported` for an adapter that is not allowed or is none; what the adapter throws of ours, such as
 * `agent_not_installed`; `handshake_failed`, `timeout`, `cancelled`; nothing of the agent lives then
 */
export async function connectProprietary(options: ArmConnectOptions): Promise<ArmConnection> {
  if (options.signal.aborted) throw startCancelled()
  const profile = parseProfile(options.profile)
  const connection = new AdapterConnection(await loadClient(profile), profile, options)
  return connection.start()
}

class AdapterConnection implements ArmConnection {
  readonly ended: Promise<AgentEnd>
  info: AgentInfo
  readonly #loaded: LoadedClient
  readonly #profile: ProprietaryProfile
  readonly #options: ArmConnectOptions
  /** Aborts the adapter's work. */
  readonly #life = new AbortController()
  #session: ProprietarySession | undefined
  #closing: Promise<ProcessExit> | undefined
  #resolveEnd: (end: AgentEnd) => void = () => {}

  constructor(loaded: LoadedClient, profile: ProprietaryProfile, options: ArmConnectOptions) {
    this.#loaded = loaded
    this.#profile = profile
    this.#options = options
    this.ended = new Promise((resolve) => (this.#resolveEnd = resolve))
    const { resumable, multimodal } = profile.capabilities
    this.info = { capabilities: { ...NO_CAPABILITIES, resume: resumable, image: multimodal, audio: multimodal } }
  }

  /** Connects, or leaves nothing behind. */
  async start(): Promise<this> {
    const { limits, clock, signal } = this.#options
    try {
      const connecting = this.#connect()
      const connected = await within(connecting, 'The adapter did not connect', {
        ms: limits.handshakeMs,
        clock,
        signal,
      })
      this.info = { ...this.info, ...infoOf(connected) }
      this.#watch()
      return this
    } catch (thrown) {
      await this.close()
      throw signal.aborted ? startCancelled() : connectFailure(thrown)
    }
  }

  async openSession(options: OpenSessionOptions, sink: AgentSink): Promise<ArmSession> {
    const { origin, mcpServers } = options
    const { resume, capabilities } = this.#profile
    if (origin.how !== 'new' && (resume !== origin.agentSessionId || !capabilities.resumable)) {
      throw notResumable(origin)
    }
    if (this.#session) throw new AgentprotoError('not_supported', 'An adapter’s client holds one session')
    const warnings = mcpServers.map(({ name }) => `The adapter takes no MCP servers: "${name}" is not mounted.`)
    const { clock } = this.#options
    const context = { clock, multimodal: capabilities.multimodal, warnings, resumed: resume }
    this.#session = new ProprietarySession(this.#loaded.client, sink, context)
    return this.#session
  }

  close(): Promise<ProcessExit> {
    this.#closing ??= this.#close().catch((failed: unknown) => {
      // Something of it is running: the next close tries again.
      this.#closing = undefined
      throw failed
    })
    return this.#closing
  }

  async #connect(): Promise<AgentCliInfo | void> {
    const { launch, limits } = this.#options
    const { capabilities, settings, resume, additionalDirectories = [] } = this.#profile
    return this.#loaded.client.connect({
      cwd: launch.cwd,
      env: launch.env,
      abortSignal: this.#life.signal,
      capabilities,
      command: launch.command,
      args: launch.args,
      additionalDirectories,
      termGraceMs: limits.termGraceMs,
      ...defined({ settings, resume }),
    })
  }

  /** Adapters that know when their agent ends report it. */
  #watch(): void {
    void this.#loaded.client.ended?.then(
      (end) => this.#died(end),
      (thrown: unknown) => this.#died({ message: String(thrown) }),
    )
  }

  async #died(end: AgentCliEnd): Promise<void> {
    if (this.#closing) return
    const { message: given, stderrTail = '', broken = false, ...exit } = end
    const message = given ?? exitMessage(exit, stderrTail)
    // Earlier output of the agent is still on its way through the adapter.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const error = { message, ...(stderrTail === '' ? {} : { stderrTail }) }
    const reason = new AgentprotoError('agent_exited', message, { data: exit })
    const duringTurn = this.#session?.fail(reason, { by: 'failure', error }) ?? false
    await this.close().catch(() => {})
    this.#resolveEnd({ ...exit, duringTurn, cause: broken ? 'transport' : 'exit', message, stderrTail })
  }

  async #close(): Promise<ProcessExit> {
    const { launch, limits, clock } = this.#options
    this.#session?.fail(new AgentprotoError('session_ended', 'The connection was closed'), { by: 'host' })
    this.#life.abort()
    const { client, release } = this.#loaded
    const ms = limits.stdinGraceMs + limits.termGraceMs + CLOSE_SLACK_MS
    const closing = (async () => client.close())()
    // The agent is ended even if its adapter does not end it.
    await within(closing, 'The adapter did not close', { ms, clock }).catch(() => {})
    await endProcesses(findMarkedProcesses(launch.marker), limits, clock)
    release()
    return {}
  }
}

function infoOf(connected: AgentCliInfo | void): Pick<AgentInfo, 'name' | 'version'> {
  const { name, version } = asRecord(connected)
  return defined({ name: asString(name), version: asString(version) })
}

function connectFailure(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) return startFailure(thrown)
  const what = thrown instanceof Error ? thrown.message : String(thrown)
  return new AgentprotoError('handshake_failed', `The adapter could not connect: ${what}`, { cause: thrown })
}
