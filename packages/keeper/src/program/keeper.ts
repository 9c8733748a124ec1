import type { Socket } from 'node:net'
import { constants } from 'node:os'
import type { Clock, Timer } from '@agentproto/contracts'
import type { Bounds } from './bounds.js'
import { Connection } from './connection.js'
import { endGuarded } from './end-guarded.js'
import { Guard, type Guarded } from './guard.js'
import { HeldAgent, STREAMS } from './held-agent.js'
import type { StreamName } from './held-agent.js'
import { Refusal } from './refusal.js'
import type { Parameters } from './refusal.js'
import { spawnChild } from './spawn-child.js'

/** The versions of the wire that this keeper speaks. */
const WIRES: readonly number[] = [1, 2]
const MAX_FACTS = 256 << 10

export interface KeeperOptions {
  readonly secret: Buffer
  /** Which build was started, in the words of its starter. */
  readonly build: string
  readonly bounds: Bounds
  readonly clock: Clock
  /** Ends the process. Nothing is held any more. */
  readonly onEmpty: () => void
}

type Operation = (request: Parameters, connection: Connection, body: Buffer) => object | Promise<object>

/** The agents of one home, and the peers that see them: one controls, others may look. */
export class Keeper {
  readonly #options: KeeperOptions
  readonly #agents = new Map<string, HeldAgent>()
  readonly #connections = new Set<Connection>()
  #controller: Connection | undefined
  #orphanMs = Infinity
  #isOrphaned = false
  /** Until the end of an empty keeper, or of what an orphaned one holds. */
  #waiting: Timer
  #files = 0
  readonly #guard: Guard
  /** Ends of guarded agents that are under way. */
  #endings = 0

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#guard = new Guard(options.clock, (guarded) => void this.#endGuarded(guarded))
    this.#waiting = options.clock.after(options.bounds.startMs, () => this.#endIfEmpty())
  }

  accept(socket: Socket): void {
    const { bounds, clock } = this.#options
    const helloTimer = clock.after(bounds.helloMs, () => connection.role === 'stranger' && socket.destroy())
    const answer = (peer: Connection, request: Parameters, body: Buffer): object | Promise<object> =>
      this.#operationOf(peer, request)(request, peer, body)
    const connection = new Connection(socket, answer, { clock, helloTimer })
    this.#connections.add(connection)
    socket.once('close', () => this.#gone(connection))
    if (this.#connections.size > bounds.connections) this.#closeOldest()
  }

  /** Ends every agent. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => this.#end(agent)))
  }

  readonly #operations: Readonly<Record<string, Operation>> = {
    list: () => ({ agents: [...this.#agents.values()].map((agent) => agent.describe()) }),
    spawn: (request) => this.#spawn(request),
    read: (request, connection) => {
      const [agent, stream, from] = [this.#agent(request), streamOf(request), request.count('from')]
      const { first, next } = agent.streams[stream]
      if (from < first || from > next) throw new Refusal('offset_invalid', { first, next })
      connection.follow(agent, stream, from)
      connection.grant(agent, stream, request.count('bytes'))
      return {}
    },
    grant: (request, connection) => {
      connection.grant(this.#agent(request), streamOf(request), request.count('bytes'))
      return {}
    },
    write: (request, _connection, body) => this.#agent(request).write(request.count('at'), body),
    'close-input': (request) => {
      this.#agent(request).closeInput()
      return {}
    },
    acknowledge: (request) => {
      const [stdin, stdout, stderr] = STREAMS.map((name) => request.count(name))
      const upTo = { stdin: stdin ?? 0, stdout: stdout ?? 0, stderr: stderr ?? 0 }
      this.#agent(request).acknowledge(upTo, request.text('facts', MAX_FACTS), request.flag('busy'))
      return {}
    },
    guard: (request) => {
      const [markers, ms, graceMs] = [request.texts('markers'), request.count('ms'), request.count('graceMs')]
      if (markers.length > this.#options.bounds.guarded) throw new Refusal('invalid_request', { name: 'markers' })
      this.#guard.renew({ markers: new Set(markers), graceMs }, ms)
      return {}
    },
    signal: (request) => {
      const signal = request.text('signal')
      if (!isSignal(signal)) throw new Refusal('invalid_request', { name: 'signal' })
      return { sent: this.#agent(request).signal(signal) }
    },
    release: (request) => {
      const agent = this.#agent(request)
      if (!agent.exit) throw new Refusal('agent_running')
      this.#forget(agent)
      return {}
    },
    stop: () => {
      if (this.#agents.size > 0) throw new Refusal('agents_held', { agents: this.#agents.size })
      // After the answer.
      setImmediate(this.#options.onEmpty)
      return {}
    },
  }

  #operationOf({ role }: Connection, request: Parameters): Operation {
    const name = request.text('op')
    if (name === 'hello') return (hello, connection) => this.#hello(hello, connection)
    if (role === 'stranger') throw new Refusal('unauthorized')
    if (!Object.hasOwn(this.#operations, name)) throw new Refusal('unknown_operation')
    if (role === 'observer' && name !== 'list') throw new Refusal('not_controller')
    return this.#operations[name] ?? (() => ({}))
  }

  #hello(request: Parameters, connection: Connection): object {
    const spoken = request.counts('wire').filter((version) => WIRES.includes(version))
    if (spoken.length === 0) throw new Refusal('wire_unsupported', { wire: WIRES })
    if (!isSame(this.#options.secret, request.text('secret'))) throw new Refusal('unauthorized')
    const role = request.text('role') === 'controller' ? 'controller' : 'observer'
    if (role === 'controller') this.#control(connection, request.count('orphanMs'))
    connection.accept(role, request.count('pid', 0))
    const { build, bounds } = this.#options
    return {
      wire: Math.max(...spoken),
      build,
      pid: process.pid,
      controller: this.#controller?.pid,
      agents: this.#agents.size,
      queueBytes: bounds.queueBytes,
    }
  }

  /** A gateway that starts takes over from one that was frozen or lost: the lock of the home says which is right. */
  #control(connection: Connection, orphanMs: number): void {
    const displaced = this.#controller === connection ? undefined : this.#controller
    this.#controller = connection
    this.#orphanMs = orphanMs
    this.#isOrphaned = false
    this.#waiting.cancel()
    displaced?.close({ push: 'closed', code: 'displaced' })
  }

  #gone(connection: Connection): void {
    this.#connections.delete(connection)
    if (this.#controller !== connection) return
    this.#controller = undefined
    this.#awaitNext()
  }

  #awaitNext(): void {
    const { clock, bounds } = this.#options
    if (this.#isOrphaned) return this.#endIfEmpty()
    if (this.#controller) return
    this.#waiting.cancel()
    this.#waiting =
      this.#agents.size === 0
        ? clock.after(bounds.emptyMs, () => this.#endIfEmpty())
        : clock.after(this.#orphanMs, () => this.#orphan())
  }

  /** No gateway came: what does not work is ended, and the rest when it has ended. */
  #orphan(): void {
    this.#isOrphaned = true
    for (const agent of this.#agents.values()) if (agent.exit || !agent.isBusy) void this.#end(agent)
  }

  async #end(agent: HeldAgent): Promise<void> {
    await agent.terminate()
    this.#forget(agent)
  }

  #endIfEmpty(): void {
    const isEmpty = this.#agents.size === 0 && !this.#guard.isArmed && this.#endings === 0
    if (!this.#controller && isEmpty) this.#options.onEmpty()
  }

  /** Their exits are kept for the gateway. */
  async #endGuarded(guarded: Guarded): Promise<void> {
    this.#endings += 1
    await endGuarded(guarded, {
      held: [...this.#agents.values()],
      clock: this.#options.clock,
      isRenewed: () => this.#guard.isRenewedAfter(guarded),
      gatewayPid: () => this.#controller?.pid,
    })
    this.#endings -= 1
    this.#endIfEmpty()
  }

  #spawn(request: Parameters): object | Promise<object> {
    const key = request.text('key', 256)
    const held = this.#agents.get(key)
    if (held) return { agent: held.describe() }
    const { bounds, clock } = this.#options
    if (this.#agents.size >= bounds.agents) throw new Refusal('agent_limit')
    const launch = {
      command: request.text('command'),
      args: request.texts('args'),
      env: request.environment('env'),
      cwd: request.text('cwd'),
    }
    const [marker, facts] = [request.text('marker'), request.text('facts', MAX_FACTS)]
    if (this.#guard.forbids(marker)) throw new Refusal('guard_expired')
    const child = spawnChild(launch)
    if (child instanceof Promise) return child
    const agent: HeldAgent = new HeldAgent(child, {
      key,
      marker,
      facts,
      bounds,
      clock,
      path: `held-${process.pid}-${this.#files++}`,
      onBytes: (stream) => this.#controller?.offer(agent, stream),
      onEvent: (event) => {
        this.#controller?.send(event)
        if (this.#isOrphaned && agent.exit) void this.#end(agent)
      },
    })
    this.#agents.set(key, agent)
    return { agent: agent.describe() }
  }

  #forget(agent: HeldAgent): void {
    if (!this.#agents.delete(agent.key)) return
    agent.release()
    this.#awaitNext()
  }

  #agent(request: Parameters): HeldAgent {
    const agent = this.#agents.get(request.text('key', 256))
    if (agent === undefined) throw new Refusal('unknown_agent')
    return agent
  }

  /** Many connections of one user must not keep out the gateway. */
  #closeOldest(): void {
    for (const connection of this.#connections) {
      if (connection === this.#controller) continue
      this.#connections.delete(connection)
      return connection.close({ push: 'closed', code: 'displaced' })
    }
  }
}

function streamOf(request: Parameters): StreamName {
  const name = request.text('stream')
  const stream = STREAMS.find((each) => each === name)
  if (stream === undefined) throw new Refusal('invalid_request', { name: 'stream' })
  return stream
}

const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name)

/** In a time that does not depend on where they differ. */
function isSame(secret: Buffer, given: string): boolean {
  const proof = Buffer.from(given, 'hex')
  let difference = proof.length ^ secret.length
  for (const [at, byte] of secret.entries()) difference |= byte ^ (proof[at] ?? 0)
  return difference === 0
}
