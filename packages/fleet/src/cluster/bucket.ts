import { AgentprotoError } from '@agentproto/contracts'
import {
  jetstream,
  type JetStreamClient,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
} from '@nats-io/jetstream'
import { Kvm, type KvOptions } from '@nats-io/kv'
import { headers, type MsgHdrs } from '@nats-io/transport-node'
import { type Cluster, clusterError } from './cluster.js'
import { expectedOf, type StoredSignatures } from '../keys/stored-signature.js'

/** What a key has in a bucket: a value, or the mark that it was removed. */
export interface Stored {
  readonly revision: number
  /** Absent when it was removed. */
  readonly value?: Uint8Array
  /** Somebody else than a gateway of the fleet has written it: it is neither a value nor a removal. */
  readonly isForged?: true
  /** The revision that it has replaced; 0 when it is forged. */
  readonly replaced: number
}

export interface BucketOptions {
  readonly name: string
  /** How long the server keeps a value; absent for ever. */
  readonly ttlMs?: number
  readonly onProblem: (problem: string) => void
}

interface Message {
  readonly data: string
  readonly header: MsgHdrs
}

/** A message of the stream of the bucket. */
export interface BucketMessage {
  readonly subject: string
  readonly seq: number
  readonly headers: MsgHdrs | undefined
  readonly data: Uint8Array
}

interface Connected {
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  readonly signatures: StoredSignatures
}

/** The revision of a key that does not exist. */
export const ABSENT = 0
export const NEVER_STORED: Stored = { revision: ABSENT, replaced: ABSENT }

const REQUEST_MS = 3_000
/** The header of the key-value format of NATS that says that a key was removed. */
const OPERATION = 'KV-Operation'

/** How a server answers when another host is creating the same bucket: its name, or its subject, is taken. */
const IS_TAKEN: readonly number[] = [10_058, 10_065]
const ATTEMPTS = 5

/** Creates it unless it exists. Looking and creating are two requests: another host may be faster between them. */
async function created(client: JetStreamClient, name: string, options: Partial<KvOptions>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      await new Kvm(client).create(name, options)
      return
    } catch (thrown) {
      const isTaken = thrown instanceof JetStreamApiError && IS_TAKEN.includes(thrown.code)
      if (!isTaken || attempt === ATTEMPTS) throw thrown
    }
}

/**
 * A key-value bucket that is only written by compare-and-set, and only by the gateways of the fleet: all else is forged. Reads are
 * answered by the leader of its stream.
 */
export class Bucket {
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  readonly name: string
  readonly stream: string
  readonly #prefix: string
  readonly #signatures: StoredSignatures

  private constructor(name: string, { client, manager, signatures }: Connected) {
    this.client = client
    this.manager = manager
    this.#signatures = signatures
    this.name = name
    this.stream = `KV_${name}`
    this.#prefix = `$KV.${name}.`
  }

  /**
   * Creates the bucket, or checks that the one that exists is as this gateway needs it.
   * @throws `cluster_unavailable`, `cluster_unsupported` when it keeps values for another time
   */
  static async open({ nats, replicas, signatures }: Cluster, options: BucketOptions): Promise<Bucket> {
    const { name, ttlMs } = options
    try {
      const client = jetstream(nats, { timeout: REQUEST_MS })
      const manager = await client.jetstreamManager()
      await created(client, name, { history: 1, replicas, ...(ttlMs === undefined ? {} : { ttl: ttlMs }) })
      const bucket = new Bucket(name, { client, manager, signatures })
      await bucket.#check(options, replicas)
      return bucket
    } catch (thrown) {
      throw clusterError(thrown)
    }
  }

  async #check({ name, ttlMs = 0, onProblem }: BucketOptions, replicas: number): Promise<void> {
    const { config } = await this.manager.streams.info(this.stream)
    const keptMs = Math.round(config.max_age / 1e6)
    if (keptMs !== ttlMs)
      throw new AgentprotoError('cluster_unsupported', `The bucket ${name} keeps its values for another time`, {
        expected: `${ttlMs} ms, from the lease of this gateway`,
        given: `${keptMs} ms`,
        hint: 'Give all gateways of the fleet the same lease.',
      })
    if (config.max_msgs_per_subject !== 1)
      throw new AgentprotoError('cluster_unsupported', `The bucket ${name} was made by another program`, {
        expected: 'one value for each key',
        given: config.max_msgs_per_subject,
      })
    if (config.num_replicas < replicas)
      onProblem(
        `The bucket ${name} is stored by ${config.num_replicas} server, though the cluster has more. ` +
          `It can be changed: nats stream edit ${this.stream} --replicas=${replicas}`,
      )
  }

  /** The filter of all of its keys. */
  get subjects(): string {
    return `${this.#prefix}>`
  }

  keyOf(subject: string): string {
    return subject.slice(this.#prefix.length)
  }

  /** What the leader has, or undefined for a key that never was or has expired. */
  async read(key: string): Promise<Stored | undefined> {
    const message = await this.manager.streams.getMessage(this.stream, { last_by_subj: this.#prefix + key })
    if (message === null) return undefined
    return this.stored({ subject: message.subject, seq: message.seq, headers: message.header, data: message.data })
  }

  /** What a message of its stream says about its key. */
  stored({ subject, seq: revision, headers: all, data: body }: BucketMessage): Stored {
    if (all === undefined || !this.#signatures.isSigned({ subject, headers: all, body }))
      return { revision, isForged: true, replaced: 0 }
    return { revision, replaced: expectedOf(all), ...(isRemoval(all) ? {} : { value: body }) }
  }

  /**
   * Writes when the key still has the expected revision.
   * @returns the new revision; undefined when the key has another one
   * @throws an error of NATS: then it is not known whether it was written
   */
  write(key: string, value: unknown, expected: number): Promise<number | undefined> {
    return this.#publish(key, { data: JSON.stringify(value), header: headers() }, expected)
  }

  /** Removes the key when it still has the expected revision; else as `write`. */
  remove(key: string, expected: number): Promise<number | undefined> {
    const header = headers()
    header.set(OPERATION, 'DEL')
    return this.#publish(key, { data: '', header }, expected)
  }

  async #publish(key: string, { data, header }: Message, expected: number): Promise<number | undefined> {
    try {
      const subject = this.#prefix + key
      const body = Buffer.from(data)
      const signed = this.#signatures.sign({ subject, headers: header, body, expected })
      const expect = { lastSubjectSequence: expected }
      const { seq } = await this.client.publish(subject, body, { headers: signed, expect })
      return seq
    } catch (thrown) {
      if (isConflict(thrown)) return undefined
      throw thrown
    }
  }

  /** Removes what is left of removed keys, up to a revision of each. */
  async purge(key: string, before: number): Promise<void> {
    await this.manager.streams.purge(this.stream, { filter: this.#prefix + key, seq: before + 1 })
  }
}

/**
 * Whether something that is signed was stored before, and now again by somebody else: it replaces an older revision than one that a
 * gateway has written since. A key that has expired has none to replace.
 */
export const isStoredAgain = ({ revision, replaced }: Stored, signed: number): boolean =>
  revision > signed && replaced !== ABSENT && replaced < signed

/** Whether a message marks the removal of its key. */
const isRemoval = (header: MsgHdrs): boolean => ['DEL', 'PURGE'].includes(header.get(OPERATION))

const isConflict = (thrown: unknown): boolean =>
  thrown instanceof JetStreamApiError &&
  (thrown.code === JetStreamApiCodes.StreamWrongLastSequence ||
    thrown.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)
