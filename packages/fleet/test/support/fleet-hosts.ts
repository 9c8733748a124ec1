import { type Clock, type EventGap, systemClock } from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'
import type { EventReader } from '@agentproto/contracts/wire'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { onTestFinished } from 'vitest'
import { FleetLog } from '../../src/log/fleet-log.js'
import { LogPublisher } from '../../src/log/log-publisher.js'
import type { LogPublisherOptions } from '../../src/log/log-publisher-options.js'
import { openLogStream } from '../../src/log/log-stream.js'
import { StoredSignatures } from '../../src/keys/stored-signature.js'
import { FLEET_KEY } from './fleet-options.js'

/** Of all gateways of the fleet. */
const SIGNATURES = new StoredSignatures(FLEET_KEY)

interface HostOptions {
  readonly replicas?: 1 | 3
  readonly epochOf?: LogPublisherOptions['epochOf']
  readonly mayWrite?: LogPublisherOptions['mayWrite']
  /** Of the publisher. */
  readonly clock?: Clock
}

/** One host of a fleet: its connection, its publisher, and the logs of all. Ends with the test. */
export interface LogHost {
  readonly nats: NatsConnection
  readonly publisher: LogPublisher
  readonly log: FleetLog
  readonly problems: string[]
  /** Sessions that it found to be another host's, with the epoch. */
  readonly fenced: [sessionId: string, epoch: number][]
}

export async function startLogHost(
  servers: readonly string[],
  { replicas = 1, epochOf = () => 1, mayWrite = () => true, clock = systemClock }: HostOptions = {},
): Promise<LogHost> {
  const nats = await connect({
    servers: [...servers],
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
    reconnectJitter: 50,
    pingInterval: 500,
    timeout: 2_000,
  })
  const problems: string[] = []
  const fenced: [string, number][] = []
  const onProblem = (problem: string): number => problems.push(problem)
  const cluster = { nats, replicas, maxPayload: nats.info?.max_payload ?? 0, signatures: SIGNATURES }
  await openLogStream({ cluster, onProblem })
  const publisher = new LogPublisher({
    cluster,
    clock,
    epochOf,
    mayWrite,
    onFenced: (id, epoch) => fenced.push([id, epoch]),
    onProblem,
  })
  const log = new FleetLog({ cluster, clock: systemClock, onProblem })
  onTestFinished(async () => {
    log.close()
    await publisher.close()
    await nats.close()
  })
  return { nats, publisher, log, problems, fenced }
}

/** What a reader got: every event or gap, in order. */
export type Read = EventRecord | EventGap

/** Reads until the end of the log, or until event `until`. */
export async function readAll(reader: EventReader, until = Infinity): Promise<readonly Read[]> {
  const read: Read[] = []
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) {
    if (batch.gap !== undefined) read.push(batch.gap)
    read.push(...batch.records)
    if ((batch.records.at(-1)?.seq ?? 0) >= until) break
  }
  reader.close()
  return read
}

/** The next events, at least so many. */
export async function readSome(reader: EventReader, count: number): Promise<readonly EventRecord[]> {
  const records: EventRecord[] = []
  while (records.length < count) {
    const batch = await reader.next()
    if (batch === undefined) break
    records.push(...batch.records)
  }
  return records
}
