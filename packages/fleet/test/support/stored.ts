import { jetstream, jetstreamManager, type PubAck } from '@nats-io/jetstream'
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import { StoredSignatures } from '../../src/keys/stored-signature.ts'
import { FLEET_KEY } from './fleet-options.ts'

interface ToStore {
  readonly stream: string
  readonly subject: string
  readonly headers?: MsgHdrs
  readonly body: Uint8Array | string
}

/** Stores what a gateway that errs, or has another version, would store. */
export async function storeSigned(
  nats: NatsConnection,
  { stream, subject, headers: all, body }: ToStore,
): Promise<PubAck> {
  const manager = await jetstreamManager(nats)
  const last = await manager.streams.getMessage(stream, { last_by_subj: subject })
  const bytes = Buffer.from(body)
  const signed = new StoredSignatures(FLEET_KEY).sign({
    subject,
    headers: all ?? headers(),
    body: bytes,
    expected: last?.seq ?? 0,
  })
  return jetstream(nats).publish(subject, bytes, { headers: signed })
}

/** Stores once more the last message of a subject, as another client of the account can. */
export async function storeAgain(nats: NatsConnection, stored: StoredCopy): Promise<PubAck> {
  const all = headers()
  for (const [name, [value = '']] of stored.headers)
    if (name !== 'Nats-Expected-Last-Subject-Sequence') all.set(name, value)
  return jetstream(nats).publish(stored.subject, stored.body, { headers: all })
}

export interface StoredCopy {
  readonly subject: string
  readonly headers: MsgHdrs
  readonly body: Uint8Array
}

/** The last message of a subject. */
export async function lastOf(nats: NatsConnection, stream: string, subject: string): Promise<StoredCopy> {
  const manager = await jetstreamManager(nats)
  const last = await manager.streams.getMessage(stream, { last_by_subj: subject })
  if (last === null) throw new Error(`Nothing is stored for ${subject}`)
  return { subject, headers: last.header, body: last.data }
}
