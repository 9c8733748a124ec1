import { AgentprotoError, asNumber, asRecord, asString, settlesWithin, systemClock } from '@agentproto/contracts'
import type { Clock } from '@agentproto/contracts'
import type { AgentKeeper, KeptAgent, KeptLoss, Launch } from '@agentproto/contracts/agent'
import { checkLaunch, spawnFailure } from '@agentproto/subprocess'
import { ConnectedAgent } from './connected-agent.js'
import { connectNewest, makeFolder, readSecret } from './keeper-socket.js'
import type { Bounds } from './program/bounds.js'
import { startKeeper } from './start-keeper.js'
import { refusalOf, unavailable, WireConnection } from './wire-connection.js'

type Fields = Readonly<Record<string, unknown>>

/** Versions of the wire that this client speaks. */
const WIRES = [1]
/** How long a keeper may take to answer `hello`, in milliseconds: one that is frozen may go on. */
const HELLO_MS = 15_000
const SILENT = 'it does not answer'
/** A keeper that ends while a gateway connects is replaced; several in a row are not a coincidence. */
const TRIES = 5

export interface KeeperOptions {
  /** `homeLayout(home).keeper`. */
  readonly folder: string
  /** How long idle agents live without a gateway, in milliseconds. */
  readonly orphanMs: number
  readonly clock?: Clock
  /** Other bounds for a keeper that is started; see docs/keeper.md. */
  readonly bounds?: Partial<Bounds>
}

/** The keeper as others see it. */
export interface KeeperInfo {
  readonly pid: number
  /** Version of the wire that is spoken. */
  readonly wire: number
  /** Version of the program. */
  readonly build: string
}

/** The keeper of a home, for its only controller. */
export interface HomeKeeper extends AgentKeeper {
  readonly info: KeeperInfo
  /** Settles with a reason when the keeper ended, was taken over by another gateway, or `close` was called. */
  readonly lost: Promise<KeptLoss>
  /** What it holds. @throws `keeper_unavailable` */
  list(): Promise<readonly ListedAgent[]>
  /** Sends a signal to the group of an agent. @returns false when it has ended. @throws `keeper_unavailable` */
  signal(key: string, signal: NodeJS.Signals): Promise<boolean>
  /** Ends the keeper if it holds nothing. @returns whether it did. @throws `keeper_unavailable` */
  stop(): Promise<boolean>
  /** Leaves everything to the next gateway. */
  close(): void
}

/** One row of `list`. */
export interface ListedAgent {
  readonly key: string
  readonly pid: number
  readonly startTime: string
  readonly isBusy: boolean
  readonly hasEnded: boolean
  /** Bytes of all streams that are kept. */
  readonly keptBytes: number
  /** Why a stream of it is not read at present. */
  readonly stalled?: 'full' | 'disk'
}

/**
 * Connects to the keeper of a home as its controller, and starts one if none is alive. An earlier controller is disconnected.
 * @throws `keeper_unavailable`
 */
export async function openKeeper(options: KeeperOptions): Promise<HomeKeeper> {
  if (process.platform === 'win32') throw unavailable('there is none for Windows')
  makeFolder(options.folder)
  for (let tries = 0; tries < TRIES; tries += 1) {
    const keeper = await connectKeeper(options)
    if (keeper) return keeper
    await startKeeper(options.folder, options.bounds ?? {}, options.clock ?? systemClock)
  }
  throw unavailable('it ends again and again')
}

/** As `openKeeper`, but starts none. @returns undefined when none is alive. @throws `keeper_unavailable` */
export function connectKeeper(options: KeeperOptions): Promise<HomeKeeper | undefined> {
  return ConnectedKeeper.connect(options, 'controller')
}

/** Looks at the keeper of a folder beside its controller. @returns undefined when none is alive. @throws `keeper_unavailable` */
export async function lookAtKeeper(
  folder: string,
  clock: Clock = systemClock,
): Promise<{ readonly info: KeeperInfo; readonly agents: readonly ListedAgent[] } | undefined> {
  const keeper = await ConnectedKeeper.connect({ folder, orphanMs: 0, clock }, 'observer')
  if (keeper === undefined) return undefined
  try {
    return { info: keeper.info, agents: await keeper.list() }
  } finally {
    keeper.close()
  }
}

class ConnectedKeeper implements HomeKeeper {
  info: KeeperInfo = { pid: 0, wire: 0, build: '' }
  readonly lost: Promise<KeptLoss>
  readonly #connection: WireConnection
  readonly #agents = new Map<string, ConnectedAgent>()
  #queueBytes = 0

  /** Undefined when no keeper is alive, or it ends just now. */
  static async connect(
    { folder, orphanMs, clock = systemClock }: KeeperOptions,
    role: 'controller' | 'observer',
  ): Promise<ConnectedKeeper | undefined> {
    const socket = await connectNewest(folder)
    if (socket === undefined) return undefined
    const keeper = new ConnectedKeeper((onPush) => new WireConnection(socket, onPush))
    const hello = keeper.#hello({ role, orphanMs, secret: readSecret(folder) })
    if (!(await settlesWithin(HELLO_MS, hello, clock))) keeper.#connection.close(SILENT)
    try {
      await hello
      return keeper
    } catch (error) {
      keeper.close()
      if (refusalOf(error)['code'] !== undefined) throw notSpoken(refusalOf(error), error)
      if ((await keeper.lost).reason === SILENT) throw error
      return undefined
    }
  }

  private constructor(connect: (onPush: (push: Fields, body: Buffer) => void) => WireConnection) {
    this.#connection = connect((push, body) => this.#agents.get(asString(push['key']) ?? '')?.handle(push, body))
    this.lost = this.#connection.lost
  }

  async spawn(key: string, launch: Launch, facts: string): Promise<KeptAgent> {
    checkLaunch(launch)
    const { command, args, env, cwd, marker } = launch
    const request = { op: 'spawn', key, command, args, env, cwd, marker, facts }
    try {
      return await this.#connection.request(request, ({ agent }) => this.#connected(asRecord(agent)))
    } catch (error) {
      throw spawnError(error, launch)
    }
  }

  adopt(key: string): Promise<KeptAgent | undefined> {
    return this.#connection.request({ op: 'list' }, (answer) => {
      const found = agentsIn(answer).find((agent) => agent['key'] === key)
      return found && this.#connected(found)
    })
  }

  list(): Promise<readonly ListedAgent[]> {
    return this.#connection.request({ op: 'list' }, (answer) => agentsIn(answer).map(listed))
  }

  signal(key: string, signal: NodeJS.Signals): Promise<boolean> {
    return this.#connection.request({ op: 'signal', key, signal }, ({ sent }) => sent === true)
  }

  async stop(): Promise<boolean> {
    try {
      await this.#connection.request({ op: 'stop' }, () => {})
      return true
    } catch (error) {
      if (refusalOf(error)['code'] === 'agents_held') return false
      throw error
    }
  }

  close(): void {
    this.#connection.close('it was left', 'left')
  }

  async #hello({ role, orphanMs, secret }: Fields): Promise<void> {
    await this.#connection.request({ op: 'hello', wire: WIRES, role, orphanMs, secret }, (answer) => {
      const [pid, wire, build] = [asNumber(answer['pid']), asNumber(answer['wire']), asString(answer['build'])]
      this.info = { pid: pid ?? 0, wire: wire ?? 0, build: build ?? '' }
      this.#queueBytes = asNumber(answer['queueBytes']) ?? 0
    })
  }

  #connected(described: Fields): ConnectedAgent {
    const agent = new ConnectedAgent(described, this.#connection, this.#queueBytes)
    this.#agents.set(agent.key, agent)
    return agent
  }
}

const agentsIn = ({ agents }: Fields): readonly Fields[] => (Array.isArray(agents) ? agents.map(asRecord) : [])

function listed(agent: Fields): ListedAgent {
  const streams = Object.values(asRecord(agent['streams'])).map(asRecord)
  const size = ({ first, next }: Fields): number => (asNumber(next) ?? 0) - (asNumber(first) ?? 0)
  const stalled = streams.map(({ intake }) => intake).find((intake) => intake === 'full' || intake === 'disk')
  return {
    key: asString(agent['key']) ?? '',
    pid: asNumber(agent['pid']) ?? 0,
    startTime: asString(agent['startTime']) ?? '',
    isBusy: agent['busy'] === true,
    hasEnded: agent['exit'] !== undefined,
    keptBytes: streams.reduce((sum, stream) => sum + size(stream), 0),
    ...(stalled === undefined ? {} : { stalled }),
  }
}

function spawnError(error: unknown, launch: Launch): unknown {
  const { code, errno } = refusalOf(error)
  if (code === 'cwd_invalid' || code === 'spawn_failed')
    return code === 'cwd_invalid'
      ? new AgentprotoError('cwd_invalid', 'The working directory leads elsewhere than when it was resolved', {
          given: launch.cwd,
          cause: error,
        })
      : spawnFailure(Object.assign(new Error(String(errno)), { code: errno }), launch)
  if (code === 'agent_limit')
    return new AgentprotoError('spawn_failed', 'The keeper holds as many agents as it may', { cause: error })
  return error
}

function notSpoken({ code, wire }: Fields, cause: unknown): AgentprotoError {
  const reason =
    code === 'wire_unsupported'
      ? `it speaks version ${JSON.stringify(wire)} of the wire, and this agentproto ${JSON.stringify(WIRES)}`
      : `it refused the connection (${String(code)})`
  return unavailable(reason, cause)
}
