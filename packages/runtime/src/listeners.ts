import type { Authenticate, DaemonRecord } from '@agentproto/contracts'
import type { HttpApp } from '@agentproto/gateway-http'
import type { Refusal } from './audit/refusals.js'
import { removeDaemonRecord, writeDaemonRecord } from './daemon-record.js'
import type { GatewayLog } from './gateway-log.js'
import type { ListenOptions } from './gateway-options.js'
import { localDoor } from './local-door.js'
import { listen, type Listening, type ListeningServer } from './server.js'
import { version } from './version.js'

export interface ListenersOptions {
  readonly app: HttpApp
  /** Called with each request that comes by a socket. */
  readonly onRequest: () => void
  readonly authenticate: Authenticate
  readonly onRefused: (refusal: Refusal) => void
  /** What the gateway's own options say of listening. */
  readonly defaults: Listening
  /** Gets the address that agents are told. */
  readonly address: { url?: string }
  /** Where the command line finds it; undefined for a gateway in memory. */
  readonly record: string | undefined
  readonly log: GatewayLog
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
    const { app, address, defaults, log, record: path } = this.#options
    const tls =
      defaults.tls === undefined && options.tls === undefined ? {} : { tls: { ...defaults.tls, ...options.tls } }
    const { url, isPlainLoopback } = await this.#serve((request, env) => app.fetch(request, env), {
      ...defaults,
      ...options,
      ...tls,
    })
    // Agents are told the first, which stays theirs.
    address.url ??= isPlainLoopback ? url : await this.#openLocally(options)
    const local = isPlainLoopback || address.url === url ? {} : { local: address.url }
    const record: DaemonRecord = { pid: process.pid, startedAt: new Date().toISOString(), url, ...local, version }
    if (path !== undefined) writeDaemonRecord(path, record)
    log.write('info', 'listening', { ...record, node: process.version })
    return url
  }

  /** Resolves when every connection has ended, forced after the grace (milliseconds). */
  async close(graceMs: number): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close(graceMs)))
  }

  /** Takes the record away if it is still this process's. */
  removeRecord(): void {
    if (this.#options.record !== undefined) removeDaemonRecord(this.#options.record)
  }

  async #openLocally({ ownProcess = false }: ListenOptions): Promise<string> {
    const { app } = this.#options
    const { url } = await this.#serve(localDoor(app, this.#options), { host: '127.0.0.1', port: 0, ownProcess })
    return url
  }

  async #serve(fetch: Fetch, options: ListenOptions): Promise<ListeningServer> {
    const { defaults, onRequest } = this.#options
    const counted: Fetch = (request, env) => {
      onRequest()
      return fetch(request, env)
    }
    const server = await listen(counted, { ...options, onProblem: defaults.onProblem })
    this.#servers.push(server)
    return server
  }
}

type Fetch = Parameters<typeof listen>[0]
