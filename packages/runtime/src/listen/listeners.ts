import type { Authenticate, DaemonRecord, HomeLayout } from '@agentproto/contracts'
import type { HttpApp } from '@agentproto/gateway-http'
import type { Audit } from '../audit/audit.js'
import { removeDaemonRecord, writeDaemonRecord } from './daemon-record.js'
import type { GatewayLog } from '../telemetry/gateway-log.js'
import type { GatewayOptions, ListenOptions } from '../gateway-options.js'
import { localDoor } from './local-door.js'
import type { OwnNames } from './own-names.js'
import { listen, type ListeningServer } from './server.js'
import { version } from '../version.js'
import type { YoungHeap } from '../young-heap.js'

export interface ListenersOptions {
  readonly app: HttpApp
  readonly authenticate: Authenticate
  /** Told of who is turned away before the app. */
  readonly audited: Pick<Audit, 'refused'>
  /** What the gateway's own options say of listening. */
  readonly listen?: NonNullable<GatewayOptions['listen']>
  readonly onProblem: (problem: string) => void
  /** Told of each request that comes by a socket. */
  readonly young: Pick<YoungHeap, 'take'>
  /** Gets the address that agents are told. */
  readonly address: { url?: string }
  /** Gets the names that it may be called by. */
  readonly names: OwnNames
  /** One in memory leaves no record for the command line. */
  readonly inMemory: boolean
  readonly layout: HomeLayout
  readonly ownLog: GatewayLog
}

/** Every socket of a gateway. */
export class Listeners {
  readonly #options: ListenersOptions
  readonly #servers: ListeningServer[] = []

  constructor(options: ListenersOptions) {
    this.#options = options
  }

  /** @throws `listen_failed`, and what the files of TLS are refused with */
  async open(options: ListenOptions): Promise<string> {
    const { app, address, listen: defaults, inMemory, layout, ownLog } = this.#options
    const tls =
      defaults?.tls === undefined && options.tls === undefined ? {} : { tls: { ...defaults?.tls, ...options.tls } }
    const { url, isPlainLoopback } = await this.#serve((request, env) => app.fetch(request, env), {
      ...defaults,
      ...options,
      ...tls,
    })
    // Agents are told the first, which stays theirs.
    address.url ??= isPlainLoopback ? url : await this.#openLocally(options)
    const local = isPlainLoopback || address.url === url ? {} : { local: address.url }
    const record: DaemonRecord = { pid: process.pid, startedAt: new Date().toISOString(), url, ...local, version }
    if (!inMemory) writeDaemonRecord(layout.daemon, record)
    ownLog.write('info', 'listening', { ...record, node: process.version })
    return url
  }

  /** Resolves when every connection has ended, forced after the grace (milliseconds). */
  async close(graceMs: number): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close(graceMs)))
  }

  /** Takes the record away if it is still this process's. */
  removeRecord(): void {
    if (!this.#options.inMemory) removeDaemonRecord(this.#options.layout.daemon)
  }

  async #openLocally({ ownProcess = false }: ListenOptions): Promise<string> {
    const { app, authenticate, audited } = this.#options
    const door = localDoor(app, { authenticate, onRefused: (refusal) => audited.refused(refusal) })
    const { url } = await this.#serve(door, { host: '127.0.0.1', port: 0, ownProcess })
    return url
  }

  async #serve(fetch: Fetch, options: ListenOptions): Promise<ListeningServer> {
    const { onProblem, names, young } = this.#options
    const counted: Fetch = (request, env) => {
      young.take(1)
      return fetch(request, env)
    }
    const server = await listen(counted, { ...options, onProblem })
    this.#servers.push(server)
    names.listenOn(server.host)
    return server
  }
}

type Fetch = Parameters<typeof listen>[0]
