<<<<<<< HEAD
=======
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { connect } from '@nats-io/transport-node'
>>>>>>> 4b1b5ccd (fleet: a gateway connects to the NATS servers of its fleet, and what they lack is said)
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { onTestFinished } from 'vitest'
import { launchNats, type NatsServer } from '../../../../tooling/nats-servers.mjs'

export type { NatsServer } from '../../../../tooling/nats-servers.mjs'

/** Further arguments of each server, such as a configuration with accounts. */
interface ServerOptions {
  readonly args?: readonly string[]
  /** Lines of a configuration file. */
  readonly config?: string
  readonly jetstream?: boolean
}

/** One server, which ends with the test. */
export async function startNats(options: ServerOptions = {}): Promise<NatsServer> {
  const [server] = await launch(1, options)
  if (server === undefined) throw new Error('No server was started')
  return server
}

/** A cluster of three, which ends with the test. */
export async function startNatsCluster(options: ServerOptions = {}): Promise<readonly NatsServer[]> {
<<<<<<< HEAD
  const servers = await launch(3, options)
  await metaLeader(servers.map(({ url }) => url))
=======
  return launch(3, options)
}

async function launch(
  size: number,
  { args = [], config, jetstream = true }: ServerOptions,
): Promise<readonly NatsServer[]> {
  const root = mkdtempSync(join(tmpdir(), 'agentproto-nats-'))
  const file = join(root, 'nats.conf')
  if (config !== undefined) writeFileSync(file, config)
  const extra = [...(config === undefined ? [] : ['-c', file]), ...args]
  const ports = await freePorts(size * 2)
  const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`)
  const servers = Array.from({ length: size }, (_, i) => {
    const cluster =
      size === 1
        ? []
        : ['--cluster_name', 'test', '--cluster', routes[i] ?? '', '--routes', routes.join(','), '-n', `n${i}`]
    const stored = jetstream ? ['-js', '-sd', join(root, `n${i}`)] : []
    return new Server(ports[i] ?? 0, [...stored, ...cluster, ...extra])
  })
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    rmSync(root, { recursive: true, force: true })
  })
  await Promise.all(servers.map((server) => server.start()))
  if (size > 1) await metaLeader(servers.map(({ url }) => url))
>>>>>>> 4b1b5ccd (fleet: a gateway connects to the NATS servers of its fleet, and what they lack is said)
  return servers
}

async function launch(size: 1 | 3, { args = [] }: ServerOptions): Promise<readonly NatsServer[]> {
  const { servers, stop } = await launchNats(size, args)
  onTestFinished(stop)
  return servers
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
