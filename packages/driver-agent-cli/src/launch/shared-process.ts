import { createHash } from 'node:crypto'
import { asString, isAgentprotoError, type Json, randomId } from '@agentproto/contracts'
import type {
  AdoptedProcess,
  AdoptedSession,
  AgentKeeper,
  AgentSink,
  ArmAdoptOptions,
  ArmConnection,
  ArmConnectOptions,
  KeptAgent,
  Launch,
  OpenSessionOptions,
  ProtocolArm,
} from '@agentproto/contracts/agent'
import { endProcesses, findMarkedProcesses, SESSION_MARKER } from '@agentproto/subprocess'
import { notAdoptable } from './not-adoptable.js'
import { SharedConnection } from './shared-connection.js'
import { unlessAborted } from './unless-aborted.js'

/**
 * Agent processes that hold several sessions each, for agents whose manifest says
 * `metadata.agentproto.process: shared`. Sessions share a process when its executable, arguments and environment are
 * the same; the folder is each session's own, and the process keeps that of the first.
 */
export class SharedProcesses {
  /** Those that a session may join, by their launch. */
  readonly #open = new Map<string, SharedProcess>()
  /** Those of an earlier host, by their markers. Their output is not read before {@link begin}. */
  readonly #adopted = new Map<string, Promise<SharedProcess | undefined>>()

  /**
   * Joins the process for such a launch, or starts it. Closing the connection leaves it; the last one ends it.
   * @param options the `keep` of one session: a process that is started is kept under a key of its own
   * @throws as {@link ProtocolArm.connect}; a start that several wait for fails for all of them
   */
  connect(arm: ProtocolArm, options: ArmConnectOptions): Promise<SharedConnection> {
    const key = keyOf(options.launch)
    return (this.#open.get(key) ?? this.#start(key, arm, options)).join(options)
  }

  /**
   * Goes on with one session of a process that an earlier host has started; before {@link begin}.
   * @returns undefined when no such process is kept
   * @throws `not_adoptable`, `keeper_unavailable`
   */
  async adopt(
    arm: ProtocolArm,
    { marker, key, keeper, connecting }: SharedAdoption,
  ): Promise<AdoptableMember | undefined> {
    const adopted = this.#adopted.get(marker) ?? this.#adopt(arm, { marker, keeper, connecting })
    this.#adopted.set(marker, adopted)
    return (await adopted)?.member(key)
  }

  /** Whether sessions use the process with that marker. */
  async holds(marker: string): Promise<boolean> {
    const isAdopted = (await this.#adopted.get(marker)?.catch(() => undefined))?.isUsed === true
    return isAdopted || [...this.#open.values()].some((shared) => shared.marker === marker && shared.isUsed)
  }

  /** Every session that goes on has been adopted: their output is read from now on. A process without any is ended. */
  async begin(): Promise<void> {
    const begin = (shared: SharedProcess | undefined): Promise<void> | undefined => shared?.begin()
    await Promise.all([...this.#adopted.values()].map((each) => each.then(begin, () => {})))
  }

  #start(key: string, arm: ProtocolArm, options: ArmConnectOptions): SharedProcess {
    const shared: SharedProcess = SharedProcess.start(arm, options, () => this.#gone(key, shared))
    this.#open.set(key, shared)
    return shared
  }

  async #adopt(
    arm: ProtocolArm,
    { marker, keeper, connecting }: Omit<SharedAdoption, 'key'>,
  ): Promise<SharedProcess | undefined> {
    const agent = await keeper.adopt(marker)
    if (!agent) return undefined
    if (!arm.adoptShared) throw notAdoptable(`its protocol, ${arm.protocol}, does not allow it for several sessions`)
    const { launch } = connecting
    const adopted = await arm.adoptShared({ ...connecting, agent, launch: { ...launch, marker } })
    const key = asString(adopted.host['launch']) ?? marker
    const shared: SharedProcess = SharedProcess.adopt({ ...adopted, lost: agent.lost }, marker, () =>
      this.#gone(key, shared),
    )
    if (!this.#open.has(key)) this.#open.set(key, shared)
    return shared
  }

  #gone(key: string, shared: SharedProcess): void {
    if (this.#open.get(key) === shared) this.#open.delete(key)
    this.#adopted.delete(shared.marker)
  }
}

/** One session of a process that an earlier host has started. */
export interface SharedAdoption {
  /** Of the process. */
  readonly marker: string
  /** Of the session. */
  readonly key: string
  readonly keeper: AgentKeeper
  readonly connecting: Omit<ArmAdoptOptions, 'agent'>
}

/** A session that can be adopted. */
export interface AdoptableMember extends Pick<KeptAgent, 'lost'> {
  /** What the host knows of its launch. */
  readonly host: Json
  /** Goes on with it. @throws `not_adoptable` */
  adopt(
    opening: Pick<OpenSessionOptions, 'cwd' | 'additionalDirectories'>,
    sink: AgentSink,
  ): { readonly connection: ArmConnection; readonly session: AdoptedSession }
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

type LeftProcess = AdoptedProcess & Pick<KeptAgent, 'lost'>

interface SharedStart {
  readonly marker: string
  readonly connecting: Promise<ArmConnection>
  readonly abort: () => void
  readonly isKept: boolean
  /** Where an earlier host has started it. */
  readonly adopted?: LeftProcess
}

/** One process and the sessions that use it. */
class SharedProcess {
  readonly marker: string
  readonly #start: SharedStart
  readonly #gone: () => void
  #isRead = false
  /** Sessions that use it, and starts that wait for it. */
  #members = 0

  /** @param gone called when no session may join it any more */
  static start(arm: ProtocolArm, { launch, keep, ...options }: ArmConnectOptions, gone: () => void): SharedProcess {
    const marker = randomId('shared_')
    const abort = new AbortController()
    // A marker of its own: with that of a session, ending another process of that session would end this one.
    const shared = Object.entries(launch.env).filter(([name]) => !OF_ONE_SESSION.has(name))
    const env = { ...Object.fromEntries(shared), [SESSION_MARKER]: marker }
    const starting = { ...options, launch: { ...launch, env, marker }, signal: abort.signal }
    const host = { launch: keyOf(launch) }
    const connecting = keep
      ? connectKept(arm, { ...starting, keep: { keeper: keep.keeper, key: marker, host, isShared: true } })
      : arm.connect(starting)
    const isKept = keep !== undefined
    return new SharedProcess({ marker, connecting, isKept, abort: () => abort.abort() }, gone)
  }

  static adopt(adopted: LeftProcess, marker: string, gone: () => void): SharedProcess {
    const connecting = Promise.resolve(adopted.connection)
    return new SharedProcess({ marker, connecting, isKept: true, abort: () => {}, adopted }, gone)
  }

  private constructor(start: SharedStart, gone: () => void) {
    this.marker = start.marker
    this.#start = start
    this.#gone = gone
    start.connecting.then(({ ended }) => ended.then(gone), gone)
  }

  get isUsed(): boolean {
    return this.#members > 0
  }

  async join({ signal, keep }: Pick<ArmConnectOptions, 'signal' | 'keep'>): Promise<SharedConnection> {
    this.#members++
    try {
      const connection = await unlessAborted(this.#start.connecting, signal)
      return this.#connection(connection, keep)
    } catch (thrown) {
      // No session waits for it any more: it is aborted, and has ended before this rejects.
      if (this.#leave())
        await this.#start.connecting.then(
          (connection) => connection.close(),
          () => {},
        )
      throw thrown
    }
  }

  /** A session that an earlier host has left. */
  member(key: string): AdoptableMember {
    const { adopted } = this.#start
    const left = adopted?.sessions.find((each) => each.key === key)
    if (!adopted || !left || this.#isRead) throw notAdoptable('nothing is stored of its session')
    return {
      host: left.host,
      lost: adopted.lost,
      adopt: (opening, sink) => {
        const session = adopted.adopt(key, opening, sink)
        this.#members++
        const connection = this.#connection(adopted.connection)
        connection.goOn(session)
        return { connection, session }
      },
    }
  }

  async begin(): Promise<void> {
    const { adopted } = this.#start
    if (!adopted || this.#isRead) return
    this.#isRead = true
    if (this.isUsed) return adopted.begin()
    this.#gone()
    await adopted.connection.close().catch(() => {})
  }

  #connection(connection: ArmConnection, keep?: ArmConnectOptions['keep']): SharedConnection {
    const { marker, isKept } = this.#start
    const leave = (): boolean => this.#leave()
    return new SharedConnection(connection, { marker, isKept, leave, ...(isKept && keep && { keep }) })
  }

  /** Returns whether that was the last one. */
  #leave(): boolean {
    if (--this.#members > 0) return false
    this.#gone()
    this.#start.abort()
    return true
  }
}

/** A keeper that is lost after the spawn leaves a process that no session has. */
async function connectKept(arm: ProtocolArm, options: ArmConnectOptions): Promise<ArmConnection> {
  try {
    return await arm.connect(options)
  } catch (thrown) {
    const { launch, limits, clock } = options
    if (isAgentprotoError(thrown) && thrown.code === 'keeper_unavailable')
      await endProcesses(findMarkedProcesses(launch.marker), limits, clock)
    throw thrown
  }
}
