// Logs of a host, stored in JetStream with three replicas, to a reader in another process: live, and replayed when the host is
// gone. Beside it what JetStream alone gives for the same bytes.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { systemClock } from '@agentproto/contracts'
import { LogPublisher, openLogStream, StoredSignatures } from '@agentproto/fleet/parts'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { now } from './measure.mjs'
import { startNatsServers } from './nats.mjs'
import { k, row } from './table.mjs'

/** A log that grows while a message is on its way is read in batches of at most 1 024 events. */
const BATCH = 1_000
const KEY = new Uint8Array(32)

export async function fleetLog({ home, events }) {
  await mkdir(home, { recursive: true })
  const servers = await startNatsServers(home)
  if (servers === undefined) return []
  const nats = await connect({ servers: servers.urls })
  try {
    const bare = await bareJetStream(nats, events)
    const one = await published(nats, servers.urls, { events, sessions: 1 })
    const many = await published(nats, servers.urls, { events, sessions: 20 })
    return [
      row(`bare JetStream, ${events} events stored, 100 a message`, bare.stored, { unit: k }),
      row('  read by a pull consumer', bare.read, { unit: k }),
      row('log of a session to another host, three replicas', one.live, { least: 80_000, unit: k, of: bare.stored }),
      row('  of 20 sessions at once', many.live, { least: 80_000, unit: k, of: bare.stored }),
      row('  replayed, its host gone', one.replayed, { least: 200_000, unit: k, of: bare.read }),
      row('  replayed, 20 sessions at once', many.replayed, { unit: k, of: bare.read }),
    ]
  } finally {
    await nats.close()
    await servers.stop()
  }
}

async function published(nats, urls, { events, sessions }) {
  const problems = []
  const cluster = { nats, replicas: 3, maxPayload: nats.info.max_payload, signatures: new StoredSignatures(KEY) }
  const options = { cluster, clock: systemClock, onProblem: (problem) => problems.push(problem) }
  await openLogStream(options)
  const publisher = new LogPublisher({ ...options, epochOf: () => 1, mayWrite: () => true, onFenced: () => undefined })
  const ids = Array.from({ length: sessions }, (_, at) => `s_${sessions}_${at}`)
  const each = Math.floor(events / sessions)
  const reader = await startReader(urls, ids)
  const began = now()
  const read = reader.all(each * sessions)
  const ends = await Promise.all(ids.map((id) => publisher.publish(id, followerOf(id, each)).done))
  await read
  const live = (each * sessions * 1_000) / (now() - began)
  await publisher.close()
  if (problems.length > 0 || ends.some(({ type }) => type !== 'complete'))
    throw new Error(`not published: ${problems[0]}`)
  reader.stop()
  const later = await startReader(urls, ids)
  const again = now()
  await later.all(each * sessions)
  const replayed = (each * sessions * 1_000) / (now() - again)
  later.stop()
  return { live, replayed }
}

/** A host's log that is written as fast as it is read. */
function followerOf(id, events) {
  const text = 'x'.repeat(60)
  const line = (seq) =>
    `{"seq":${seq},"ts":"2026-11-23T06:00:00.000Z","sessionId":"${id}","turn":3,"type":"text-delta","text":"${text}"}`
  return async (after) => {
    let last = after
    return {
      get behind() {
        return events - last
      },
      async next() {
        if (last >= events) return undefined
        const count = Math.min(BATCH, events - last)
        const records = Array.from({ length: count }, (_, at) => ({
          seq: last + at + 1,
          type: 'text-delta',
          json: line(last + at + 1),
        }))
        last += count
        return { records }
      },
      close() {},
    }
  }
}

async function startReader(urls, ids) {
  const child = fork(new URL('fleet-log-reader.mjs', import.meta.url), [JSON.stringify({ urls, ids })])
  await once(child, 'message')
  return {
    async all(events) {
      child.send('go')
      const [{ seen }] = await once(child, 'message')
      if (seen !== events) throw new Error(`${seen} of ${events} events were read in order`)
    },
    stop: () => child.kill(),
  }
}

async function bareJetStream(nats, events) {
  const manager = await jetstreamManager(nats)
  await manager.streams.add({ name: 'bare', subjects: ['bare'], storage: 'file', num_replicas: 3 })
  const client = jetstream(nats)
  const body = Buffer.from('x'.repeat(160 * 100))
  const messages = Math.floor(events / 100)
  let began = now()
  for (let sent = 0; sent < messages; sent += 64)
    await Promise.all(Array.from({ length: Math.min(64, messages - sent) }, () => client.publish('bare', body)))
  const stored = (messages * 100 * 1_000) / (now() - began)
  await manager.consumers.add('bare', { durable_name: 'all', ack_policy: 'none' })
  const consumer = await client.consumers.get('bare', 'all')
  began = now()
  let read = 0
  for await (const _ of await consumer.consume({ max_messages: 500 })) if (++read === messages) break
  return { stored, read: (messages * 100 * 1_000) / (now() - began) }
}
