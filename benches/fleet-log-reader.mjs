// Another host: reads logs from the fleet, and checks that each event comes once and in order.
import { once } from 'node:events'
import { systemClock } from '@agentproto/contracts'
import { FleetLog, StoredSignatures } from '@agentproto/fleet/parts'
import { connect } from '@nats-io/transport-node'

const { urls, ids } = JSON.parse(process.argv[2])
const nats = await connect({ servers: urls })
const cluster = { nats, signatures: new StoredSignatures(new Uint8Array(32)) }
const log = new FleetLog({ cluster, clock: systemClock, onProblem: (problem) => console.error(problem) })
process.send('ready')
await once(process, 'message')
const counts = await Promise.all(ids.map((id) => readAll(log.follow(id, 0))))
process.send({ seen: counts.reduce((sum, count) => sum + count, 0) })

async function readAll(reader) {
  let last = 0
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next())
    for (const { seq } of batch.records) if (seq === last + 1) last = seq
  return last
}
