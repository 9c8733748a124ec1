import { setTimeout } from 'node:timers/promises'
import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream'
import { HOSTS_BUCKET, LOG_STREAM, SESSIONS_BUCKET } from '../subjects.js'

const LOOKS = 10
const BETWEEN_MS = 200

const STREAMS = [`KV_${SESSIONS_BUCKET}`, `KV_${HOSTS_BUCKET}`, LOG_STREAM]

/**
 * Gives three replicas to the streams of a fleet that was started with one server, now that there are three. Any gateway does it
 * when it joins, as far as its user may change streams.
 * @returns how many replicas all of them have
 */
export async function growReplicas(manager: JetStreamManager, onProblem: (problem: string) => void): Promise<1 | 3> {
  try {
    for (const name of STREAMS) await grow(manager, name)
    return 3
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    onProblem(
      'The fleet is stored by one NATS server, though there are three: what it stores is lost with that server. This gateway ' +
        `cannot change it: ${why}. For each of its streams, someone who may can run: nats stream edit <stream> --replicas=3`,
    )
    return 1
  }
}

async function grow(manager: JetStreamManager, name: string): Promise<void> {
  if (!(await isSmall(manager, name))) return
  try {
    await manager.streams.update(name, { num_replicas: 3 })
  } catch (thrown) {
    if (await staysSmall(manager, name)) throw thrown
  }
}

/** Of several gateways that join at the same time one does it; the others are refused, or not answered, before that is on record. */
async function staysSmall(manager: JetStreamManager, name: string): Promise<boolean> {
  for (let look = 1; look < LOOKS && (await isSmall(manager, name)); look++) await setTimeout(BETWEEN_MS)
  return isSmall(manager, name)
}

/** A stream that is not there yet is created with three. */
async function isSmall({ streams }: JetStreamManager, name: string): Promise<boolean> {
  try {
    return (await streams.info(name)).config.num_replicas < 3
  } catch (thrown) {
    if (thrown instanceof JetStreamApiError && thrown.code === JetStreamApiCodes.StreamNotFound) return false
    throw thrown
  }
}
