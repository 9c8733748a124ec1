import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  const servers = await launch(3, options)
  await metaLeader(servers.map(({ url }) => url))
  return servers
}

async function launch(size: 1 | 3, options: ServerOptions): Promise<readonly NatsServer[]> {
  const { args = [], config, jetstream = true } = options
  const configured = config === undefined ? [] : ['-c', fileWith(config)]
  const { servers, stop } = await launchNats(size, [...configured, ...args, ...(jetstream ? [] : ['-js=false'])])
  onTestFinished(stop)
  return servers
}

function fileWith(config: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentproto-nats-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'nats.conf')
  writeFileSync(path, config)
  return path
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
