import type { AcpConnection } from '@agentproto/acp'
import { type AgentConfig, AgentprotoError, type Clock, defined, isAgentprotoError, pause } from '@agentproto/contracts'
import {
  type AgentObservation,
  type AgentSink,
  type ArmLimits,
  DEFAULT_ARM_LIMITS,
  type Launch,
} from '@agentproto/contracts/agent'
import { endProcesses } from '@agentproto/subprocess'
import { AgentWatch } from './agent-watch.js'
import { folderSize } from './folder-size.js'
import { isPlain, plainText } from './plain-text.js'
import type { ScratchFolder } from './scratch-folder.js'

/** Longer graces than those of a session: how long the agent itself takes is measured. */
export const OBSERVATION_LIMITS: ArmLimits = { ...DEFAULT_ARM_LIMITS, stdinGraceMs: 5_000, termGraceMs: 10_000 }

/** What an agent may leave in its folders, and how many processes it may have. Some write 200 MB at their first start. */
const MOST = { files: 200_000, bytes: 1 << 30, processes: 500 }
type Most = typeof MOST
/** How often that is looked at, in milliseconds. */
const LOOK_MS = 250
const LIST_MAX = 200

export interface ObserveLaunch {
  readonly launch: Launch
  readonly scratch: ScratchFolder
  readonly limits: ArmLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly client: { readonly name: string; readonly version: string }
  /** Default: what agents of this kind were seen to take, several times over. */
  readonly most?: Most
}

/**
 * Launches an ACP agent, asks what it offers, opens a session without a prompt, and ends it with all that it started.
 * @throws `spawn_failed`, `agent_not_installed`, `handshake_failed`, `timeout`, `cancelled`
 */
export async function observeLaunch(options: ObserveLaunch): Promise<AgentObservation> {
  const { connectAcp } = await import('@agentproto/acp')
  const { launch, scratch, limits, clock, client, most = MOST } = options
  const bounds = new Bounds(options)
  const at = clock.now()
  try {
    const connection = await connectAcp(
      { launch, limits, clock, client, serve: {}, signal: bounds.signal },
      bounds.watch,
    )
    const handshakeMs = Math.max(0, clock.now() - at)
    const opened = await closing(connection, bounds.signal, () => openSession(connection, launch.cwd))
    if (bounds.signal.aborted) throw cancelled()
    const { outlived, ...measured } = bounds.watch.measured
    return {
      at: new Date(at).toISOString(),
      handshakeMs,
      ...answersOf(connection),
      ...opened,
      ...measured,
      leaves: { processes: outlived, ...(await folderSize(scratch.path, most)) },
    }
  } catch (thrown) {
    throw bounds.reason(thrown)
  } finally {
    await bounds.end()
  }
}

/** Ends an agent that takes too much. */
class Bounds {
  readonly watch: AgentWatch
  readonly signal: AbortSignal
  readonly #exceeded = new AbortController()
  readonly #done = new AbortController()
  readonly #looking: Promise<void>
  readonly #clock: Clock
  readonly #scratch: ScratchFolder
  readonly #most: Most

  constructor({ clock, scratch, signal, most = MOST }: ObserveLaunch) {
    this.#clock = clock
    this.#scratch = scratch
    this.#most = most
    this.watch = new AgentWatch(clock, () => this.#exceed('it wrote more than 16 MiB or 20,000 lines to its pipes'))
    this.signal = AbortSignal.any([signal, this.#exceeded.signal])
    this.#looking = this.#look()
  }

  /** Why the observation failed, with what the agent wrote in place of an answer. */
  reason(thrown: unknown): unknown {
    if (this.#exceeded.signal.aborted) return this.#exceeded.signal.reason
    const { stdoutNoise } = this.watch.measured
    if (!isAgentprotoError(thrown) || thrown.code === 'cancelled' || stdoutNoise.lines === 0) return thrown
    const { lines, first = '' } = stdoutNoise
    return new AgentprotoError(thrown.code, thrown.message, {
      cause: thrown,
      hint: `Its stdout had ${lines === 1 ? 'a line that is' : `${lines} lines that are`} no JSON-RPC: ${first}`,
      ...defined({ data: thrown.parts.data }),
    })
  }

  async end(): Promise<void> {
    this.#done.abort()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { signal } = this.#done
    const most = this.#most
    for (;;) {
      await pause(this.#clock, LOOK_MS, signal)
      if (signal.aborted || this.#exceeded.signal.aborted) return
      // Also records what detaches itself, while its parent still runs.
      const processes = this.watch.process?.snapshot() ?? []
      if (processes.length > most.processes) this.#exceed(`it started more than ${most.processes} processes`)
      const { files, bytes } = await folderSize(this.#scratch.path, most)
      if (files > most.files) this.#exceed(`it wrote more than ${most.files} files`)
      if (bytes > most.bytes) this.#exceed(`it wrote more than ${most.bytes >> 20} MiB`)
    }
  }

  #exceed(what: string): void {
    this.#exceeded.abort(
      new AgentprotoError('handshake_failed', `The agent was ended before its first prompt: ${what}`),
    )
    const { process } = this.watch
    // At once, before it takes more. The connection verifies the end.
    if (process) void endProcesses(process.snapshot(), { termGraceMs: 0 }, this.#clock).catch(() => {})
  }
}

/** Runs with a connection and closes it. Closing rejects whatever waits for the agent. */
async function closing<T>(connection: AcpConnection, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const abort = (): void => void connection.close().catch(() => {})
  signal.addEventListener('abort', abort, { once: true })
  try {
    if (signal.aborted) throw cancelled()
    return await run()
  } catch (thrown) {
    throw signal.aborted ? cancelled() : thrown
  } finally {
    signal.removeEventListener('abort', abort)
    await connection.close()
  }
}

export const cancelled = (): AgentprotoError => new AgentprotoError('cancelled', 'The observation was cancelled')

type Opened = Pick<AgentObservation, 'session' | 'modes' | 'models' | 'mode' | 'model'>

/** An agent that is not logged in still has capabilities and ways to log in: only a session is refused. */
async function openSession(connection: AcpConnection, cwd: string): Promise<Opened> {
  let config: AgentConfig = {}
  const sink: AgentSink = {
    emit: (batch) => {
      for (const signal of batch) if (signal.type === 'config') config = { ...config, ...signal.config }
    },
    ask: () => Promise.resolve({ outcome: 'cancelled' }),
  }
  try {
    const opening = { cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' as const } }
    const session = await connection.openSession(opening, sink)
    await session.close().catch(() => undefined)
    return { session: 'opened', ...offersOf(config) }
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code === 'cancelled') throw thrown
    return { session: { refused: refusalOf(thrown) }, ...offersOf({}) }
  }
}

/** Without our hint: it would name a program of this observation. */
function refusalOf({ code, message, parts }: AgentprotoError) {
  const agentCode = parts.data?.['agentCode']
  const [said = ''] = parts.hint === undefined ? [message] : message.split(` ${parts.hint}`)
  return {
    code,
    message: plainText(said),
    ...(Number.isSafeInteger(agentCode) ? { agentCode: Number(agentCode) } : {}),
  }
}

function offersOf({ modes = [], models = [], modeId, modelId }: AgentConfig): Omit<Opened, 'session'> {
  const plainOf = (id: string | undefined): string | undefined => (id !== undefined && isPlain(id) ? id : undefined)
  return {
    modes: modes
      .filter(({ id }) => isPlain(id))
      .slice(0, LIST_MAX)
      .map(({ id, name, description }) => ({ id, name: plainText(name), ...textOf({ description }) })),
    models: models.flatMap(({ id }) => plainOf(id) ?? []).slice(0, LIST_MAX),
    ...defined({ mode: plainOf(modeId), model: plainOf(modelId) }),
  }
}

function answersOf({
  info,
  client,
}: AcpConnection): Pick<
  AgentObservation,
  'agentName' | 'agentVersion' | 'protocolVersion' | 'capabilities' | 'logins'
> {
  return {
    ...textOf({ agentName: info.name, agentVersion: info.version }),
    protocolVersion: 1,
    capabilities: info.capabilities,
    logins: client.authMethods
      .filter(({ id }) => isPlain(id))
      .slice(0, LIST_MAX)
      .map(({ id, name, terminal }) => ({ id, name: plainText(name), needsTerminal: terminal !== undefined })),
  }
}

/** The texts that there are, fit to be shown. */
function textOf<Name extends string>(texts: Readonly<Record<Name, string | undefined>>) {
  const shown = Object.entries<string | undefined>(texts).flatMap(([name, text]) =>
    text === undefined || plainText(text) === '' ? [] : [[name, plainText(text)] as const],
  )
  return Object.fromEntries(shown) as Partial<Record<Name, string>>
}
