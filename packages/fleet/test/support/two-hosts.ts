import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '@agentproto/contracts'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { onTestFinished } from 'vitest'
import type { SessionRegistry } from '../../../session-registry/src/index.ts'
import { Answerer } from '../../src/calls/answerer.ts'
import { Caller } from '../../src/calls/caller.ts'
import type { SharedServices } from '../../src/calls/places.ts'
import { startNats, type NatsServer } from './nats-servers.ts'

/** What a host has of a registry, without hooks and audit. */
export const servicesOf = (registry: SessionRegistry): SharedServices => ({
  sessions: registry,
  permissions: registry.permissions,
  archive: registry.archive,
  usage: registry.usage,
  worktrees: registry.worktrees,
  changes: registry.changes,
})

export const KEY = new Uint8Array(randomBytes(32))

export interface TestHost {
  readonly name: string
  readonly nats: NatsConnection
  readonly caller: Caller
  readonly answerer: Answerer
  readonly problems: string[]
}

export interface HostOptions {
  readonly name: string
  readonly own: SharedServices
  readonly key?: Uint8Array
  readonly clock?: Clock
  readonly isReachable?: (host: string) => boolean
  readonly mayRun?: (sessionId: string) => boolean
}

/** A connection that ends with the test. */
export async function connected({ url }: Pick<NatsServer, 'url'>): Promise<NatsConnection> {
  const nats = await connect({ servers: url, reconnectTimeWait: 50, maxReconnectAttempts: -1 })
  onTestFinished(() => nats.close())
  return nats
}

/** A host that answers and calls. */
export async function startHost(server: Pick<NatsServer, 'url'>, options: HostOptions): Promise<TestHost> {
  const { name, own, key = KEY, clock = systemClock, isReachable = () => true, mayRun } = options
  const nats = await connected(server)
  const problems: string[] = []
  const maxPayload = nats.info?.max_payload ?? 0
  const shared = { nats, host: name, key, clock, maxPayload }
  const answerer = await Answerer.open({
    ...shared,
    own,
    onProblem: (problem) => void problems.push(problem),
    ...(mayRun && { mayRun }),
  })
  const caller = new Caller({ ...shared, isReachable })
  await nats.flush()
  onTestFinished(() => {
    caller.close()
    answerer.close()
  })
  return { name, nats, caller, answerer, problems }
}

/** Two hosts on a server of their own. */
export async function twoHosts(own: SharedServices): Promise<{ server: NatsServer; a: TestHost; b: TestHost }> {
  const server = await startNats()
  const a = await startHost(server, { name: 'a', own })
  const b = await startHost(server, { name: 'b', own })
  return { server, a, b }
}
