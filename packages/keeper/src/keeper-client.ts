import type { Socket } from 'node:net'
import {
  AgentprotoError,
  asNumber,
  asRecord,
  asString,
  defined,
  settlesWithin,
  systemClock,
} from '@agentproto/contracts'
import type { Clock } from '@agentproto/contracts'
import type { AgentGuard, KeptAgent, KeptLoss, Launch } from '@agentproto/contracts/agent'
import { checkLaunch, spawnFailure } from '@agentproto/subprocess'
import { ConnectedAgent } from './connected-agent.js'
import type { HomeKeeper, KeeperInfo, KeeperOptions, ListedAgent } from './home-keeper.js'
import { connectNewest, readSecret } from './keeper-socket.js'
import { notWelcome, refusalOf, unavailable, WireConnection } from './wire-connection.js'
import { type Dialects, DIALECTS, versionsOf } from './dialects.js'

type Fields = Readonly<Record<string, unknown>>

/** How long a keeper may take to answer, in milliseconds: one that is frozen may go on. */
const ANSWER_MS = 15_000
const SILENT = 'it does not answer'

/** As `openKeeper`, but starts none and replaces none. @returns undefined when none is alive. @throws `keeper_unavailable` */
export function connectKeeper(options: KeeperOptions): Promise<ConnectedKeeper | undefined> {
  return ConnectedKeeper.connect(options, 'controller')
}

/** A keeper beside its controller. */
export interface SeenKeeper {
  readonly info: KeeperInfo
  readonly agents: readonly ListedAgent[]
  /** The process that controls it, as that says itself; 0 if it does not. Absent when none does, or the keeper does not say. */
  readonly controller?: number
}

/** Looks at the keeper of a folder beside its controller. @returns undefined when none is alive. @throws `keeper_unavailable` */
export async function lookAtKeeper(folder: string, clock: Clock = systemClock): Promise<SeenKeeper | undefined> {
  const keeper = await ConnectedKeeper.connect({ folder, orphanMs: 0, clock }, 'observer')
  if (keeper === undefined) return undefined
  try {
    return { info: keeper.info, agents: await keeper.list(), ...defined({ controller: keeper.controller }) }
  } finally {
    keeper.close()
  }
}

/** One connection to a keeper. */
export class ConnectedKeeper implements HomeKeeper {
  info: KeeperInfo = { pid: 0, wire: 0, build: '' }
  /** See {@link SeenKeeper}. */
  controller: number | undefined
  readonly lost: Promise<KeptLoss>
  /** What becomes of its agents when the connection is lost. */
  onLost = (loss: KeptLoss): void => this.lose(loss)
  readonly #connection: WireConnection
  readonly #clock: Clock
  readonly #agents = new Map<string, ConnectedAgent>()
  #queueBytes = 0
  #guards = false
  /** The list that is under way for those who adopt, and the keys that they want of it. */
  #adoption: Promise<ReadonlyMap<string, KeptAgent>> | undefined
  #wanted = new Set<string>()

  /** Undefined when no keeper is alive, or it ends just now. */
  static async connect(
    { folder, orphanMs, clock = systemClock }: KeeperOptions,
    role: 'controller' | 'observer',
    dialects: Dialects = DIALECTS,
  ): Promise<ConnectedKeeper | undefined> {
    const socket = await connectNewest(folder)
    if (socket === undefined) return undefined
    const keeper = new ConnectedKeeper(socket, clock)
    const hello = keeper.#hello({ role, orphanMs, secret: readSecret(folder) }, dialects)
    if (!(await settlesWithin(ANSWER_MS, hello, clock))) keeper.#connection.close(SILENT)
    try {
      await hello
      keeper.#speak(dialects)
      return keeper
    } catch (error) {
      keeper.close()
      if (refusalOf(error)['code'] !== undefined) throw notWelcome(refusalOf(error), versionsOf(dialects), error)
      if ((await keeper.lost).reason === SILENT) throw error
      return undefined
    }
  }

  private constructor(socket: Socket, clock: Clock) {
    const onPush = (push: Fields, body: Buffer): void =>
      this.#agents.get(asString(push['key']) ?? '')?.handle(push, body)
    this.#connection = new WireConnection(socket, onPush)
    this.#clock = clock
    this.lost = this.#connection.lost
    void this.lost.then((loss) => this.onLost(loss))
  }

  async spawn(key: string, launch: Launch, facts: string): Promise<KeptAgent> {
    checkLaunch(launch)
    const { command, args, env, cwd, marker } = launch
    const request = { op: 'spawn', key, command, args, env, cwd, marker, facts }
    const spawned = this.#connection.request(request, ({ agent }) => this.#connected(asRecord(agent)))
    try {
      return await this.#inTime(spawned)
    } catch (error) {
      // The caller gave up: what starts when a frozen keeper goes on has no session.
      void spawned.then((agent) => agent.end()).catch(() => {})
      throw spawnError(error, launch)
    }
  }

  async adopt(key: string): Promise<KeptAgent | undefined> {
    this.#adoption ??= this.#connectWanted()
    this.#wanted.add(key)
    return (await this.#adoption).get(key)
  }

  /**
   * Goes on with the agents of an earlier connection of this host, each where it was; one that is not where it was is lost.
   * @throws `keeper_unavailable`
   */
  takeBack(earlier: ConnectedKeeper): Promise<void> {
    return this.#ask({ op: 'list' }, (answer) => {
      const described = new Map(agentsIn(answer).map((agent) => [agent['key'], agent]))
      for (const [key, agent] of earlier.#agents) {
        const now = described.get(key)
        if (now !== undefined && agent.goOn(now, this.#connection)) this.#follow(agent)
        else agent.lose(CHANGED)
      }
    })
  }

  /** Its agents cannot be reached any more. */
  lose(loss: KeptLoss): void {
    for (const agent of this.#agents.values()) agent.lose(loss)
  }

  list(): Promise<readonly ListedAgent[]> {
    return this.#ask({ op: 'list' }, (answer) => agentsIn(answer).map(listed))
  }

  async guard({ markers, ms, graceMs }: AgentGuard): Promise<boolean> {
    if (!this.#guards) return false
    await this.#ask(
      { op: 'guard', markers, ms: Math.max(0, Math.ceil(ms)), graceMs: Math.max(0, Math.ceil(graceMs)) },
      () => {},
    )
    return true
  }

  signal(key: string, signal: NodeJS.Signals): Promise<boolean> {
    return this.#ask({ op: 'signal', key, signal }, ({ sent }) => sent === true)
  }

  async stop(): Promise<boolean> {
    try {
      await this.#ask({ op: 'stop' }, () => {})
      return true
    } catch (error) {
      if (refusalOf(error)['code'] === 'agents_held') return false
      throw error
    }
  }

  close(): void {
    this.#connection.close('it was left', 'left')
  }

  async #hello({ role, orphanMs, secret }: Fields, dialects: Dialects): Promise<void> {
    const hello = { op: 'hello', wire: versionsOf(dialects), role, orphanMs, secret, pid: process.pid }
    await this.#connection.request(hello, (answer) => {
      const [pid, wire, build] = [asNumber(answer['pid']), asNumber(answer['wire']), asString(answer['build'])]
      this.info = { pid: pid ?? 0, wire: wire ?? 0, build: build ?? '' }
      this.controller = asNumber(answer['controller'])
      this.#queueBytes = asNumber(answer['queueBytes']) ?? 0
    })
  }

  /** A gateway that starts wants many agents at once: one list has them all. */
  async #connectWanted(): Promise<ReadonlyMap<string, KeptAgent>> {
    const wanted = (this.#wanted = new Set())
    try {
      return await this.#ask({ op: 'list' }, (answer) => {
        this.#adoption = undefined
        const found = agentsIn(answer).filter((agent) => wanted.has(asString(agent['key']) ?? ''))
        return new Map(found.map((agent) => this.#connected(agent)).map((agent) => [agent.key, agent]))
      })
    } finally {
      if (this.#wanted === wanted) this.#adoption = undefined
    }
  }

  /** From here on in the version that the keeper chose. */
  #speak(dialects: Dialects): void {
    const { wire } = this.info
    const dialect = dialects[wire]
    if (dialect === undefined) throw notWelcome({ code: 'wire_unsupported', wire: [wire] }, versionsOf(dialects))
    this.#connection.dialect = dialect
    this.#guards = dialect.guards
  }

  #ask<T>(request: Fields, read: (answer: Fields) => T): Promise<T> {
    return this.#inTime(this.#connection.request(request, read))
  }

  /** @throws `keeper_unavailable` when a keeper that lives gives no answer */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    if (await settlesWithin(ANSWER_MS, answer, this.#clock)) return answer
    answer.catch(() => {})
    throw unavailable(SILENT)
  }

  #connected(described: Fields): ConnectedAgent {
    const agent = new ConnectedAgent(described, this.#connection, this.#queueBytes)
    this.#follow(agent)
    return agent
  }

  #follow(agent: ConnectedAgent): void {
    this.#agents.set(agent.key, agent)
    agent.onReleased = () => {
      // The next agent of the session has the same key.
      if (this.#agents.get(agent.key) === agent) this.#agents.delete(agent.key)
    }
  }
}

/** It is ended as one that cannot be reached: this host has the keeper again. */
const CHANGED: KeptLoss = { cause: 'unreachable', reason: 'another program had the keeper and changed the agent' }

const RETRY_SECONDS = 5

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
  if (code === 'guard_expired')
    return new AgentprotoError('host_unreachable', 'The session cannot run here now: another host may have it', {
      hint: 'Try again when this host has reached its fleet',
      cause: error,
      data: { retryAfter: RETRY_SECONDS },
    })
  if (code === 'agent_limit')
    return new AgentprotoError('spawn_failed', 'The keeper holds as many agents as it may', { cause: error })
  return error
}
