// The logs of sessions as the NATS servers have them, read without any code of the fleet.
import { setTimeout as sleep } from 'node:timers/promises'
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'

const STREAM = 'agentproto-log'
const PAGE = 500
const ANSWER_MS = 2_000
const LEADER_MS = 30_000

/** @param servers addresses of the NATS servers */
export async function openStoredLogs(servers) {
  const nats = await connect({ servers })
  const manager = await opened(nats)
  return { of: (id) => read(nats, manager, `agentproto.log.${id}`), close: () => nats.close() }
}

/** JetStream has no leader for some moments after servers were lost. */
async function opened(nats) {
  for (const until = Date.now() + LEADER_MS; ;) {
    try {
      return await jetstreamManager(nats)
    } catch (thrown) {
      if (Date.now() > until) throw thrown
      await sleep(200)
    }
  }
}

/** All messages of a subject, oldest first. */
async function read(nats, manager, subject) {
  const { name, num_pending: count } = await manager.consumers.add(STREAM, {
    filter_subject: subject,
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.All,
    inactive_threshold: 30_000_000_000,
  })
  const consumer = await jetstream(nats).consumers.get(STREAM, name)
  const messages = []
  while (messages.length < count)
    for await (const { headers, data } of await consumer.fetch({ max_messages: PAGE, expires: ANSWER_MS }))
      messages.push(messageOf(headers, data))
  await manager.consumers.delete(STREAM, name)
  return messages
}

const messageOf = (headers, data) => ({
  kind: headers.get('Agentproto-Log'),
  epoch: Number(headers.get('Agentproto-Epoch')),
  first: Number(headers.get('Agentproto-First')),
  last: Number(headers.get('Agentproto-Last')),
  body: Buffer.from(data),
})
