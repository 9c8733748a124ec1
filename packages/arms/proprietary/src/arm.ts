import {
  adoptedSession,
  exitMessage,
  NO_CAPABILITIES,
  notAdoptable,
  notResumable,
  startCancelled,
  startFailure,
  within,
} from '@agentproto/arm-kit'
import { type AgentInfo, AgentprotoError, asRecord, asString, defined, isAgentprotoError } from '@agentproto/contracts'
import type {
  AdoptedSession,
  AgentCliConnectOptions,
  AgentCliEnd,
  AgentCliInfo,
  AgentCliReattached,
  AgentEnd,
  AgentSink,
  ArmAdoptOptions,
  ArmConnection,
  ArmConnectOptions,
  ArmSession,
  KeptLoss,
  Launch,
  OpenSessionOptions,
  ProcessExit,
  ProtocolArm,
} from '@agentproto/contracts/agent'
import { endProcesses, findMarkedProcesses, SESSION_MARKER } from '@agentproto/subprocess'
import { KeptSession } from './kept-session.js'
import { loadClient } from './load-adapter.js'
import type { LoadedClient } from './load-adapter.js'
import { parseProfile } from './profile.js'
import type { ProprietaryProfile } from './profile.js'
import type { SessionFacts } from './session-facts.js'
import { ProprietarySession } from './session.js'

/** What an adapter's `close` may take beyond the ladder of its own process, in milliseconds. */
const CLOSE_SLACK_MS = 2_500

/** An agent that an adapter package drives (AIP-45 `protocol: proprietary`). */
export const proprietaryArm: ProtocolArm = {
  protocol: 'proprietary',
  connect: connectProprietary,
  adopt: adoptProprietary,
}

/**
 * Loads the adapter, if the host allows it, and connects. `options.profile` is a {@link ProprietaryProfile}.
 * @throws `protocol_unsupported` for an adapter that is not allowed or is none; what the adapter throws of ours, such as
 * `agent_not_installed`; `handshake_failed`, `timeout`, `cancelled`; nothing of the agent lives then
 */
export async function connectProprietary(options: ArmConnectOptions): Promise<ArmConnection> {
  if (options.signal.aborted) throw startCancelled()
  const profile = parseProfile(options.profile)
  const loaded = await loadClient(profile)
  const kept = await keptSession(loaded, options)
  return new AdapterConnection(loaded, profile, { ...options, kept }).start()
}

async function keptSession(
  { client, release }: LoadedClient,
  options: ArmConnectOptions,
): Promise<KeptSession | undefined> {
  if (!options.keep || !client.reattach) return undefined
  try {
    return await KeptSession.open(options, options.keep)
  } catch (thrown) {
    release()
    throw thrown
  }
}

/**
 * Goes on with the session of an earlier host, if its adapter has `reattach`.
 * @throws `not_adoptable`, `protocol_unsupported`, `keeper_unavailable`; the agent is left as it is
 */
export async function adoptProprietary(
  { agent, keep, ...options }: ArmAdoptOptions,
  sink: AgentSink,
): Promise<{ connection: ArmConnection; session: AdoptedSession }> {
  if (!keep) throw notAdoptable('The host has not said where it is kept')
  const profile = parseProfile(options.profile)
  const loaded = await loadClient(profile)
  try {
    if (!loaded.client.reattach) throw notAdoptable('Its adapter package has no `reattach`')
    const { limits, clock, launch } = options
    const kept = await KeptSession.adopt(agent, { ...keep, limits, clock, marker: launch.marker })
    // The process of the place has not the marker.
    const env = { ...launch.env, [SESSION_MARKER]: launch.marker }
    const connection = new AdapterConnection(loaded, profile, { ...options, launch: { ...launch, env }, kept })
    return { connection, session: await connection.adopt(sink) }
  } catch (thrown) {
    loaded.release()
    throw thrown
  }
}

interface ConnectionOptions extends Omit<ArmConnectOptions, 'keep'> {
  readonly kept: KeptSession | undefined
}

class AdapterConnection implements ArmConnection {
  readonly ended: Promise<AgentEnd>
  info: AgentInfo
  readonly #loaded: LoadedClient
  readonly #profile: ProprietaryProfile
  readonly #options: ConnectionOptions
  /** What each turn starts. */
  #command: Pick<Launch, 'command' | 'args'> = { command: '', args: [] }
  /** Aborts the adapter's work. */
  readonly #life = new AbortController()
  #session: ProprietarySession | undefined
  #closing: Promise<ProcessExit> | undefined
  /** It goes on without this host. */
  #isLeft = false
  #resolveEnd: (end: AgentEnd) => void = () => {}

  constructor(loaded: LoadedClient, profile: ProprietaryProfile, options: ConnectionOptions) {
    this.#loaded = loaded
    this.#profile = profile
    this.#options = options
    this.ended = new Promise((resolve) => (this.#resolveEnd = resolve))
    const { resumable, multimodal } = profile.capabilities
    this.info = { capabilities: { ...NO_CAPABILITIES, resume: resumable, image: multimodal, audio: multimodal } }
    void options.kept?.over.then((loss) => this.#lost(loss))
  }

  get endsWithHost(): string | undefined {
    return this.#options.kept ? undefined : NOT_REATTACHED
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
    const session = this.#opened(warnings, sink)
    this.#options.kept?.watch(session, () => this.#facts(warnings))
    return session
  }

  /** Goes on with the session of an earlier host. @throws `not_adoptable` */
  async adopt(sink: AgentSink): Promise<AdoptedSession> {
    const { kept } = this.#options
    if (!kept?.left) throw notAdoptable('Nothing is kept of its session')
    const { mark, facts, turn } = kept.left
    this.info = { ...this.info, ...facts.agent }
    const { caughtUp } = await this.#reattach(kept, facts)
    const session = this.#opened(facts.warnings, sink)
    this.#watch()
    let settle = (_: Promise<unknown>): void => {}
    const begun = new Promise<unknown>((resolve) => (settle = resolve))
    return adoptedSession(
      { session },
      {
        mark,
        caughtUp: begun.then(() => session.settled()),
        begin: () => {
          const running = turn && session.goOn(turn)
          kept.watch(session, () => this.#facts(facts.warnings))
          // The log may have the end of a turn that is about to end.
          settle(turn?.isEnded || turn?.isCancelled ? (running?.done ?? caughtUp) : caughtUp)
          kept.begin()
          return running
        },
      },
    )
  }

  close(): Promise<ProcessExit> {
    this.#closing ??= this.#close().catch((failed: unknown) => {
      // Something of it is running: the next close tries again.
      this.#closing = undefined
      throw failed
    })
    return this.#closing
  }

  #opened(warnings: readonly string[], sink: AgentSink): ProprietarySession {
    const { clock, kept } = this.#options
    const { resume, capabilities } = this.#profile
    const context = { clock, multimodal: capabilities.multimodal, warnings, resumed: resume, kept }
    const session = new ProprietarySession(this.#loaded.client, sink, context)
    this.#session = session
    return session
  }

  /** What a later host needs. */
  #facts(warnings: readonly string[]): Omit<SessionFacts, 'runs' | 'turn'> {
    const { command, args } = this.#command
    const { name, version } = this.info
    return { command, args, agent: defined({ name, version }), warnings, own: this.#loaded.client.facts?.() ?? {} }
  }

  async #connect(): Promise<AgentCliInfo | void> {
    const { launch, kept: keep } = this.#options
    const { resume } = this.#profile
    this.#command = launch
    return this.#loaded.client.connect({ ...this.#start(), ...defined({ resume, keep }) })
  }

  async #reattach(keep: KeptSession, { command, args, own }: SessionFacts): Promise<AgentCliReattached> {
    const { limits, clock } = this.#options
    const { client } = this.#loaded
    this.#command = { command, args }
    const { turn } = keep.left ?? {}
    const reattaching = async (): Promise<AgentCliReattached | undefined> =>
      client.reattach?.({ ...this.#start(), keep, facts: own, ...defined({ turn }) })
    const limit = { ms: limits.handshakeMs, clock }
    const reattached = await within(reattaching(), 'The adapter did not go on', limit).catch((thrown: unknown) => {
      throw notAdoptable(thrown instanceof Error ? thrown.message : String(thrown))
    })
    return { caughtUp: Promise.resolve(reattached?.caughtUp).catch(() => {}) }
  }

  /** What an adapter gets, however it begins. */
  #start(): Omit<AgentCliConnectOptions, 'keep' | 'resume'> {
    const { launch, limits } = this.#options
    const { capabilities, settings, additionalDirectories = [] } = this.#profile
    const { command, args } = this.#command
    return {
      cwd: launch.cwd,
      env: launch.env,
      abortSignal: this.#life.signal,
      capabilities,
      command,
      args,
      additionalDirectories,
      termGraceMs: limits.termGraceMs,
      ...defined({ settings }),
    }
  }

  /** Another host has it, or its keeper is gone. */
  #lost({ cause, reason }: KeptLoss): void {
    if (cause === 'unreachable') void this.#died({ message: `The agent was lost: ${reason}`, broken: true })
    else this.#isLeft = true
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
    const { launch, limits, clock, kept } = this.#options
    if (this.#isLeft) return {}
    this.#session?.fail(new AgentprotoError('session_ended', 'The connection was closed'), { by: 'host' })
    this.#life.abort()
    const { client, release } = this.#loaded
    const ms = limits.stdinGraceMs + limits.termGraceMs + CLOSE_SLACK_MS
    const closing = (async () => client.close())()
    // The agent is ended even if its adapter does not end it.
    await within(closing, 'The adapter did not close', { ms, clock }).catch(() => {})
    await endProcesses(findMarkedProcesses(launch.marker), limits, clock)
    await kept?.close()
    release()
    return {}
  }
}

const NOT_REATTACHED = 'its adapter package cannot go on with an agent of another gateway'

function infoOf(connected: AgentCliInfo | void): Pick<AgentInfo, 'name' | 'version'> {
  const { name, version } = asRecord(connected)
  return defined({ name: asString(name), version: asString(version) })
}

function connectFailure(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) return startFailure(thrown)
  const what = thrown instanceof Error ? thrown.message : String(thrown)
  return new AgentprotoError('handshake_failed', `The adapter could not connect: ${what}`, { cause: thrown })
}
