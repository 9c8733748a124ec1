import { connect } from '@nats-io/transport-node'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { startNats, startNatsCluster } from './support/nats-servers.ts'

test('17.3 a server that was killed goes on with what it had stored', needs('nats-server'), async () => {
  const server = await startNats()
  const connection = await connect({ servers: server.url, reconnectTimeWait: 50, maxReconnectAttempts: -1 })
  const bucket = await new Kvm(connection).create('names')
  await bucket.create('a', 'one')
  await server.kill()
  await server.start()
  await expect.poll(async () => (await bucket.get('a').catch(() => null))?.string()).toBe('one')
  await connection.close()
})

test('17.3 three servers hold three replicas', needs('nats-server'), async () => {
  const servers = await startNatsCluster()
  const connection = await connect({ servers: servers.map(({ url }) => url) })
  const bucket = await new Kvm(connection).create('names', { replicas: 3 })
  await bucket.create('a', 'one')
  await servers[0]?.kill()
  await expect.poll(async () => (await bucket.get('a').catch(() => null))?.string()).toBe('one')
  await connection.close()
})
