import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { LOG_STREAM } from '../../src/subjects.ts'
import type { NatsServer } from './nats-servers.ts'

/** How many messages of logs a fleet has stored. */
export async function storedLogs({ url }: NatsServer): Promise<number> {
  const nats = await connect({ servers: url })
  const { state } = await (await jetstreamManager(nats)).streams.info(LOG_STREAM)
  await nats.close()
  return state.messages
}
