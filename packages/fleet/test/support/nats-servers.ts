import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { connect } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import { onTestFinished } from 'vitest'
import { findProgram } from '../../../../tooling/programs.mjs'

/** A real nats-server with JetStream on a loopback port of its own. */
export interface NatsServer {
  readonly url: string
  readonly pid: number
  /** SIGKILL; its folder stays, so that `start` goes on with it. */
  kill(): Promise<void>
  /** Starts it again on the same port and folder. */
  start(): Promise<void>
  /** SIGSTOP, and SIGCONT. */
  freeze(): void
  thaw(): void
}

/** Extra arguments and lines of the configuration, such as accounts. */
interface ServerOptions {
  readonly args?: readonly string[]
}

/** One server, which ends with the test. */
export async function startNats(options: ServerOptions = {}): Promise<NatsServer> {
  const [server] = await launch(1, options)
  if (server === undefined) throw new Error('No server was started')
  return server
}

/** A cluster of three, which ends with the test. */
export async function startNatsCluster(options: ServerOptions = {}): Promise<readonly NatsServer[]> {
  return launch(3, options)
}

async function launch(size: number, { args = [] }: ServerOptions): Promise<readonly NatsServer[]> {
  const root = mkdtempSync(join(tmpdir(), 'agentproto-nats-'))
  const ports = await freePorts(size * 2)
  const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`)
  const servers = Array.from({ length: size }, (_, i) => {
    const cluster =
      size === 1
        ? []
        : ['--cluster_name', 'test', '--cluster', routes[i] ?? '', '--routes', routes.join(','), '-n', `n${i}`]
    return new Server(ports[i] ?? 0, ['-js', '-sd', join(root, `n${i}`), ...cluster, ...args])
  })
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    rmSync(root, { recursive: true, force: true })
  })
  await Promise.all(servers.map((server) => server.start()))
  if (size > 1) await metaLeader(servers.map(({ url }) => url))
  return servers
}

class Server implements NatsServer {
  readonly url: string
  readonly #args: readonly string[]
  #process: ChildProcess | undefined

  constructor(port: number, args: readonly string[]) {
    this.url = `nats://127.0.0.1:${port}`
    this.#args = ['-a', '127.0.0.1', '-p', String(port), ...args]
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  async start(): Promise<void> {
    const program = findProgram('nats-server')
    if (program === undefined) throw new Error('nats-server is missing: the test needs `needs("nats-server")`')
    const started = spawn(program, this.#args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = started
    await ready(started)
  }

  async kill(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
  }

  freeze(): void {
    this.#process?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process?.kill('SIGCONT')
  }
}

/** Resolves when it listens; rejects with what it printed when it ends before. */
async function ready({ stderr, exitCode }: ChildProcess): Promise<void> {
  let printed = ''
  for await (const chunk of stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    printed += String(chunk)
    if (!printed.includes('Server is ready')) continue
    stderr?.resume()
    return
  }
  throw new Error(`nats-server ended (${exitCode}): ${printed}`)
}

/** A cluster answers about JetStream only when it has elected a leader, some seconds after its start. */
async function metaLeader(servers: readonly string[]): Promise<void> {
  const connection = await connect({ servers: [...servers] })
  try {
    while (!(await answersWith(servers.length))) await new Promise((resolve) => setTimeout(resolve, 50))
  } finally {
    await connection.close()
  }
  /** A stream can only be placed on servers that the leader knows. */
  async function answersWith(replicas: number): Promise<boolean> {
    try {
      const manager = await jetstreamManager(connection, { timeout: 1_000 })
      await manager.streams.add({ name: 'probe', subjects: ['probe'], num_replicas: replicas })
      return await manager.streams.delete('probe')
    } catch {
      return false
    }
  }
}

async function freePorts(count: number): Promise<readonly number[]> {
  const holders = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(holders.map((holder) => once(holder, 'listening')))
  const ports = holders.map((holder) => {
    const address = holder.address()
    return typeof address === 'object' ? (address?.port ?? 0) : 0
  })
  await Promise.all(holders.map((holder) => once(holder.close(), 'close')))
  return ports
}
