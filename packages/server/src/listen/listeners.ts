import { readFileSync, rmSync } from 'node:fs'
import type { DaemonRecord } from '@agentproto/contracts/agent'
import { sync as writeAtomic } from 'write-file-atomic'
import type { GatewayLog } from '../telemetry/gateway-log.js'
import type { HostNames } from './host-names.js'
import { type Fetch, type HttpServer, type ListenOptions, serveHttp } from './http-server.js'

export interface ListenersOptions {
  readonly app: { readonly fetch: Fetch }
  readonly version: string
  /** Defaults for every `open`. */
  readonly defaults: ListenOptions | undefined
  readonly onProblem: (problem: string) => void
  /** Gets the address that agents call. */
  readonly address: { url?: string }
  /** Gets the names that the gateway is reached by. */
  readonly names: HostNames
  /** Where `daemon.json` is written, for the command line to find. Undefined: nowhere. */
  readonly recordPath: string | undefined
  readonly log: GatewayLog
}

/** Every socket of a gateway. */
export class Listeners {
  readonly #options: ListenersOptions
  readonly #servers: HttpServer[] = []

  constructor(options: ListenersOptions) {
    this.#options = options
  }

  /** @throws `listen_failed`, and the errors of the TLS files */
  async open(given: ListenOptions): Promise<string> {
    const { address, defaults, recordPath, log, version } = this.#options
    const { url, isPlainLoopback } = await this.#serve({ ...defaults, ...given, ...tlsOf(defaults, given) })
    // Agents get the first address, and keep it.
    address.url ??= isPlainLoopback ? url : await this.#openLocal()
    const local = isPlainLoopback || address.url === url ? {} : { local: address.url }
    const record: DaemonRecord = { pid: process.pid, startedAt: new Date().toISOString(), url, ...local, version }
    if (recordPath !== undefined) writeAtomic(recordPath, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
    log.write('info', 'listening', { ...record, node: process.version })
    return url
  }

  /** Resolves when every connection has ended, forced after the grace (milliseconds), and removes `daemon.json`. */
  async close(graceMs: number): Promise<void> {
    const { recordPath } = this.#options
    await Promise.all(this.#servers.map((server) => server.close(graceMs)))
    if (recordPath !== undefined) removeRecord(recordPath)
  }

  /**
   * A plain listener on loopback, for the agents and the command line of this machine: they would not trust the
   * certificate and have none to show. Named tokens, which other people have, are rejected there.
   */
  async #openLocal(): Promise<string> {
    const { app } = this.#options
    const fetch: Fetch = (request, env) => app.fetch(request, { ...env, rejectNamedTokens: true })
    return (await this.#serve({ host: '127.0.0.1', port: 0 }, fetch)).url
  }

  async #serve(options: ListenOptions, fetch = this.#options.app.fetch): Promise<HttpServer> {
    const { onProblem, names } = this.#options
    const server = await serveHttp(fetch, { ...options, onProblem })
    this.#servers.push(server)
    names.add(server.host)
    return server
  }
}

/** Removes `daemon.json` if it is still this process's. */
function removeRecord(path: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(path, 'utf8')) as Partial<DaemonRecord>
    if (pid === process.pid) rmSync(path, { force: true })
  } catch {
    // It is already removed.
  }
}

const tlsOf = (defaults: ListenOptions | undefined, given: ListenOptions): Pick<ListenOptions, 'tls'> =>
  defaults?.tls === undefined && given.tls === undefined ? {} : { tls: { ...defaults?.tls, ...given.tls } }
