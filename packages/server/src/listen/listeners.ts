import { readFileSync, rmSync } from 'node:fs'
import { asRecord, asString, defined, parseJson } from '@agentproto/contracts'
import type { DaemonRecord } from '@agentproto/contracts/agent'
import { isAcpPath } from '@agentproto/contracts/wire'
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
  /** Whether agents of an earlier gateway may still call its address: it is used again if it is free. */
  readonly keepsAddress: boolean
  readonly log: GatewayLog
}

/** Options of `listen`, of a program that may restart itself. */
export interface RestartableListenOptions extends ListenOptions {
  /** What is recorded for `agentproto restart`; see {@link DaemonRecord}. */
  readonly onRestart?: DaemonRecord['onRestart']
}

/** Every socket of a gateway. */
export class Listeners {
  readonly #options: ListenersOptions
  readonly #servers: HttpServer[] = []
  /** What an earlier gateway of the home has left: it was killed, or it left its agents. */
  readonly #earlier: Partial<DaemonRecord>

  constructor(options: ListenersOptions) {
    this.#options = options
    const { recordPath, keepsAddress } = options
    this.#earlier = keepsAddress && recordPath !== undefined ? recordAt(recordPath) : {}
  }

  /** @throws `listen_failed`, and the errors of the TLS files */
  async open({ onRestart, ...given }: RestartableListenOptions): Promise<string> {
    const { address, defaults, recordPath, log, version } = this.#options
    const wanted = { ...lastPort(this.#earlier.url), ...defaults, ...given, ...tlsOf(defaults, given) }
    const { url, isPlainLoopback } = await this.#serve(wanted)
    // Agents get the first address, and keep it.
    address.url ??= isPlainLoopback ? url : await this.#openLocal()
    const local = isPlainLoopback || address.url === url ? {} : { local: address.url }
    const started = { pid: process.pid, startedAt: new Date().toISOString() }
    const record: DaemonRecord = { ...started, url, ...local, version, ...defined({ onRestart }) }
    if (recordPath !== undefined) writeAtomic(recordPath, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
    log.write('info', 'listening', { ...record, node: process.version })
    return url
  }

  /**
   * Resolves when every connection has ended, forced after the grace (milliseconds), and removes `daemon.json`, unless it is
   * for the next gateway.
   */
  async close(graceMs: number, { keepRecord }: { readonly keepRecord: boolean }): Promise<void> {
    const { recordPath, keepsAddress } = this.#options
    await Promise.all(this.#servers.map((server) => server.close(graceMs)))
    if (recordPath !== undefined && !(keepRecord && keepsAddress)) removeRecord(recordPath)
  }

  /**
   * A plain listener on loopback, for the agents and the command line of this machine: they would not trust the
   * certificate and have none to show. Named tokens, which other people have, are rejected there.
   */
  async #openLocal(): Promise<string> {
    const { app } = this.#options
    const fetch: Fetch = (request, env) => app.fetch(request, { ...env, rejectNamedTokens: true })
    return (await this.#serve({ host: '127.0.0.1', port: 0, ...lastPort(this.#earlier.local) }, fetch)).url
  }

  async #serve(options: ListenOptions, fetch = this.#options.app.fetch): Promise<HttpServer> {
    const { onProblem, names } = this.#options
    const server = await serveHttp(fetch, { ...options, onProblem, isWebSocketPath: isAcpPath })
    this.#servers.push(server)
    names.add(server.host)
    return server
  }
}

function lastPort(url: string | undefined): Pick<ListenOptions, 'lastPort'> {
  const port = url !== undefined && URL.canParse(url) ? Number(new URL(url).port) : 0
  return port > 0 ? { lastPort: port } : {}
}

function recordAt(path: string): Partial<Pick<DaemonRecord, 'url' | 'local'>> {
  try {
    const { url, local } = asRecord(parseJson(readFileSync(path, 'utf8')))
    return defined({ url: asString(url), local: asString(local) })
  } catch {
    return {}
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
