import type { Clock } from '@agentproto/contracts'
import type { JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { ABSENT, isStoredAgain } from './bucket.js'
import { BucketFollow, type FollowOptions } from './bucket-follow.js'
import { Backoff } from './backoff.js'

export interface CopyOptions<T> extends FollowOptions {
  readonly nats: NatsConnection
  readonly clock: Clock
  /** How many keys are kept; more are reported and left out. */
  readonly maxKeys: number
  /** Undefined for what is not a record. */
  readonly parse: (key: string, value: Uint8Array) => T | undefined
  /** Whether a record is older than the one that is known: asked where it has replaced none, so that it may be a first one, stored again. */
  readonly isOlder?: (record: T, known: T) => boolean
  /** After each change of the copy; the record is absent when its key was removed. */
  readonly onChange: (key: string, record: T | undefined, heard: Heard) => void
  /** A record that was stored while the copy follows, also one that this host has written. */
  readonly onStored?: (key: string, record: T, heard: Heard) => void
  /** Somebody else than a gateway has written to a key: the copy keeps what it has. */
  readonly onForged?: (key: string) => void
  readonly onProblem: (problem: string) => void
}

/** How a record came into the copy. */
export interface Heard {
  readonly revision: number
  /** It was there when the copy was read from the beginning; it can be old. */
  readonly isListed: boolean
  /** When the server stored it, in milliseconds since the epoch, by the clock of the server. */
  readonly storedAt: number
}

interface Entry extends Heard {
  readonly listing: number
  /** The revision of the record. */
  readonly signed: number
}

const MAX_PROBLEMS = 100

/** Why something that is stored is ignored, before and after its key. */
interface Forged {
  readonly what: string
  readonly why: string
}

const NOT_SIGNED: Forged = {
  what: 'something for',
  why:
    ' that is not signed with the key of this gateway; it is ignored. A gateway with another key has written it, or another client ' +
    'of the account.',
}
/** It has the signature of a gateway. A message of a host whose answer was lost can be stored late, too. */
const STORED_AGAIN: Forged = {
  what: 'an earlier record of',
  why: ' after a later one; it is ignored. It was stored late, or again by another client of the account.',
}

const nameOf = (key: string): string => key.slice(0, 80)

/**
 * A copy of a bucket that follows its changes. After each loss of contact the whole bucket is listed again, so that nothing
 * is missed: neither a change nor a removal of which no mark is left.
 */
export class BucketCopy<T> {
  /** Resolves when the bucket was listed for the first time. */
  readonly ready: Promise<void>
  readonly #options: CopyOptions<T>
  readonly #entries = new Map<string, Entry>()
  readonly #records = new Map<string, T>()
  readonly #backoff: Backoff
  #listing = 0
  #isComplete = false
  readonly #closing = new AbortController()
  #follow: BucketFollow | undefined
  #lastProblem: string | undefined
  #problems = 0
  #becomeReady: () => void = () => {}

  constructor(options: CopyOptions<T>) {
    this.#options = options
    this.#backoff = new Backoff(options.clock)
    this.ready = new Promise((resolve) => (this.#becomeReady = resolve))
    void this.#watchConnection()
    this.#start()
  }

  /** The records by key. It changes. */
  get records(): ReadonlyMap<string, T> {
    return this.#records
  }

  /** Whether every change so far is here, as far as is known. */
  get isCurrent(): boolean {
    return this.#isComplete && !this.#closing.signal.aborted
  }

  /** The revision of a record; 0 when there is none. */
  revision(key: string): number {
    return this.#entries.get(key)?.revision ?? 0
  }

  /** The last revision of a key that a gateway has written, as far as is known; 0 for none. */
  signed(key: string): number {
    return this.#entries.get(key)?.signed ?? 0
  }

  /** What this host has written itself is in its copy at once. */
  written(key: string, record: T | undefined, revision: number): void {
    this.#apply(key, record, { revision, isListed: false, storedAt: this.#options.clock.now() })
  }

  close(): void {
    this.#closing.abort()
    this.#follow?.stop()
    this.#becomeReady()
  }

  /** A server that comes back, or another one, may have a consumer no more. */
  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#options.nats.status()) {
      if (this.#closing.signal.aborted) return
      if (type === 'disconnect') this.#isComplete = false
      if (type === 'reconnect') this.#restart()
    }
  }

  #restart(): void {
    this.#follow?.stop()
    this.#start()
  }

  #start(): void {
    if (this.#closing.signal.aborted) return
    this.#isComplete = false
    this.#listing += 1
    const follow = new BucketFollow(this.#options, {
      onMessage: (message, isListed) => this.#read(message, isListed),
      onListed: () => this.#listed(),
      onLost: (reason) => this.#lost(follow, reason),
    })
    this.#follow = follow
  }

  #lost(follow: BucketFollow, reason: string): void {
    if (this.#closing.signal.aborted || follow !== this.#follow) return
    this.#isComplete = false
    if (reason !== this.#lastProblem)
      this.#options.onProblem(`The copy of ${this.#options.bucket.stream} is read again: ${reason}`)
    this.#lastProblem = reason
    void this.#backoff.wait(this.#closing.signal).then(() => {
      if (follow === this.#follow) this.#restart()
    })
  }

  #read(message: JsMsg, isListed: boolean): void {
    const { bucket, parse } = this.#options
    const key = bucket.keyOf(message.subject)
    const heard = { revision: message.seq, isListed, storedAt: Math.floor(message.info.timestampNanos / 1e6) }
    const { value, isForged, replaced } = bucket.stored(message)
    if (isForged === true) return this.#forged(key, heard, NOT_SIGNED)
    if (isStoredAgain({ ...heard, replaced }, this.signed(key))) return this.#forged(key, heard, STORED_AGAIN)
    if (value === undefined) return this.#apply(key, undefined, heard)
    const record = parse(key, value)
    if (record !== undefined && replaced === ABSENT && this.#isOlder(key, record))
      return this.#forged(key, heard, STORED_AGAIN)
    if (record === undefined)
      this.#report(`${bucket.stream} has something for ${nameOf(key)} that is not a record; it is ignored.`)
    else if (!isListed) this.#options.onStored?.(key, record, heard)
    this.#apply(key, record, heard)
  }

  #isOlder(key: string, record: T): boolean {
    const known = this.#records.get(key)
    return known !== undefined && this.#options.isOlder?.(record, known) === true
  }

  #forged(key: string, heard: Heard, { what, why }: Forged): void {
    const { bucket, onForged } = this.#options
    this.#report(`${bucket.stream} has ${what} ${nameOf(key)}${why}`)
    const known = this.#entries.get(key)
    if (known !== undefined) this.#entries.set(key, { ...heard, listing: this.#listing, signed: known.signed })
    onForged?.(key)
  }

  /** What another client of the account can do a million times is said some times. */
  #report(problem: string): void {
    this.#problems += 1
    if (this.#problems <= MAX_PROBLEMS) this.#options.onProblem(problem)
  }

  #apply(key: string, record: T | undefined, heard: Heard): void {
    const known = this.#entries.get(key)
    if (known?.listing === this.#listing && known.revision >= heard.revision) return
    if (record === undefined) return this.#remove(key, heard)
    if (known === undefined && this.#entries.size >= this.#options.maxKeys) return this.#leaveOut(key)
    this.#entries.set(key, { ...heard, listing: this.#listing, signed: heard.revision })
    if (known?.revision === heard.revision && known.storedAt === heard.storedAt) return
    this.#records.set(key, record)
    this.#options.onChange(key, record, heard)
  }

  #remove(key: string, heard: Heard): void {
    if (!this.#entries.delete(key)) return
    this.#records.delete(key)
    this.#options.onChange(key, undefined, heard)
  }

  #leaveOut(key: string): void {
    const { bucket, maxKeys } = this.#options
    this.#report(`${bucket.stream} has more than ${maxKeys} keys; ${nameOf(key)} is left out.`)
  }

  /** What was not listed is gone. */
  #listed(): void {
    if (this.#isComplete) return
    for (const [key, entry] of this.#entries) {
      if (entry.listing !== this.#listing) this.#remove(key, entry)
    }
    this.#isComplete = true
    this.#lastProblem = undefined
    this.#backoff.reset()
    this.#becomeReady()
  }
}
