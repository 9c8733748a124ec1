import { randomBytes } from 'node:crypto'
import { AgentprotoError, type Clock, type Json, pause, type Timer } from '@agentproto/contracts'
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import { type AnswerFrame, answerFrameSchema, type Ask, MAX_ACKS, VALID_MS } from './call-frame.js'
import { seal, unseal } from '../keys/signature.js'
import { answersTo, answerSubject, callSubject } from '../subjects.js'

/** An answer is due within the keep-alive of its host; after this time the message is sent again, in milliseconds. */
const RESEND_MS = 7_500
/** A host that nothing listens for is asked again after this time, in milliseconds. */
const ABSENT_MS = 100
const TICK_MS = 500
/** After an answer without the signature of the fleet, the host must sign a sign of life within this time, in milliseconds. */
const PROBE_MS = 2_000

export interface ExchangeOptions {
  readonly nats: NatsConnection
  /** The name of this host. */
  readonly host: string
  /** The key of the fleet. */
  readonly key: Uint8Array
  readonly clock: Clock
  readonly isReachable: (host: string) => boolean
}

/** The answer to one message, or why there is none: silence, nothing that listens, or a host that is not heard from. */
export type Exchanged =
  | { readonly frame: AnswerFrame; readonly body: Uint8Array }
  | { readonly none: 'silence' | 'absent' | 'gone' | 'forged' | 'closed' }

interface Pending {
  readonly host: string
  readonly timer: Timer
  readonly resolve: (exchanged: Exchanged) => void
  /** Whether it asks for nothing but a signature. */
  readonly isProbe: boolean
  /** An answer came that no host of the fleet has signed. */
  forged: boolean
}

interface Peer {
  /** The run of the other host that answered last; empty before the first answer. */
  run: string
  acks: string[]
}

/** Sends single messages to other hosts and waits for their answers, each for a bounded time. */
export class Exchange {
  readonly #options: ExchangeOptions
  readonly #run = randomBytes(9).toString('base64url')
  readonly #peers = new Map<string, Peer>()
  readonly #pending = new Map<number, Pending>()
  readonly #subscription: Subscription
  #number = 0
  #ticker: Timer | undefined
  #closed = false

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#subscription = options.nats.subscribe(answersTo(options.host), {
      callback: (error, message) => (error === null ? this.#receive(message) : undefined),
    })
    void this.#watchReconnects()
  }

  /** The run of a host that messages are for; empty if it is not known. */
  runOf(host: string): string {
    return this.#peerOf(host).run
  }

  /** The result of a call has arrived; the next message acknowledges it. */
  acknowledge(host: string, id: string): void {
    const { acks } = this.#peerOf(host)
    acks.push(id)
    if (acks.length > MAX_ACKS) this.post(host, { kind: 'alive' }, NOTHING)
  }

  /** Sends without waiting for the answer. */
  post(host: string, ask: Ask, body: Uint8Array = NOTHING): void {
    this.#send(host, ask, body)
  }

  /** @param body Fits into one message */
  ask(host: string, ask: Ask, body: Uint8Array = NOTHING): Promise<Exchanged> {
    const { clock, isReachable } = this.#options
    if (this.#closed || this.#options.nats.isClosed()) return Promise.resolve({ none: 'closed' })
    if (!isReachable(host)) return Promise.resolve({ none: 'gone' })
    return new Promise((resolve) => {
      const n = this.#send(host, ask, body)
      const timer = clock.after(RESEND_MS, () => this.#settle(n, { none: 'silence' }))
      this.#pending.set(n, { host, timer, resolve, isProbe: false, forged: false })
      this.#ticker ??= this.#tickLater()
    })
  }

  /** Whether nothing but answers without the signature of the fleet comes from a host. */
  #hasOtherKey(host: string): Promise<boolean> {
    const { clock } = this.#options
    return new Promise((resolve) => {
      const n = this.#send(host, { kind: 'alive' }, NOTHING)
      const timer = clock.after(PROBE_MS, () => this.#settle(n, { none: probe.forged ? 'forged' : 'silence' }))
      const probe: Pending = {
        host,
        timer,
        resolve: (exchanged) => resolve('none' in exchanged && exchanged.none === 'forged'),
        isProbe: true,
        forged: false,
      }
      this.#pending.set(n, probe)
    })
  }

  /** Waits a moment before a host is asked again that nothing listened for. */
  pause(): Promise<void> {
    return pause(this.#options.clock, ABSENT_MS)
  }

  close(): void {
    this.#closed = true
    this.#ticker?.cancel()
    if (!this.#options.nats.isClosed()) this.#subscription.unsubscribe()
    for (const n of this.#pending.keys()) this.#settle(n, { none: 'closed' })
  }

  #send(to: string, ask: Ask, body: Uint8Array): number {
    const { nats, host: from, key, clock } = this.#options
    const peer = this.#peerOf(to)
    this.#number += 1
    const n = this.#number
    const acks = peer.acks.splice(0, MAX_ACKS)
    const envelope = { from, to, run: this.#run, toRun: peer.run, n, expires: clock.now() + VALID_MS }
    const head = { ...envelope, ...(acks.length > 0 && { acks }), ...ask }
    // The subject of the answer is only named so that the server says when nothing listens.
    if (!nats.isClosed()) nats.publish(callSubject(to), seal(key, head, body), { reply: answerSubject(from, n) })
    return n
  }

  #receive(message: Msg): void {
    const n = Number(message.subject.slice(message.subject.lastIndexOf('.') + 1))
    const pending = this.#pending.get(n)
    if (pending === undefined) return
    if (message.headers?.code === 503 && message.data.length === 0) return this.#settle(n, { none: 'absent' })
    const answer = this.#answerOf(message.data, n, pending.host)
    if (answer === undefined) return this.#doubt(n, pending)
    this.#peerOf(pending.host).run = answer.frame.run
    this.#settle(n, answer)
  }

  /** Any client of the account can send such an answer: the true one is waited for, unless the host cannot sign. */
  #doubt(n: number, pending: Pending): void {
    if (pending.forged) return
    pending.forged = true
    if (pending.isProbe) return
    void this.#hasOtherKey(pending.host).then((isOther) => isOther && this.#settle(n, { none: 'forged' }))
  }

  /** undefined unless the host has signed it as the answer to this message. */
  #answerOf(bytes: Uint8Array, n: number, host: string): { frame: AnswerFrame; body: Uint8Array } | undefined {
    const message = unseal(this.#options.key, bytes)
    const { success, data: frame } = answerFrameSchema.safeParse(message?.head)
    if (message === undefined || !success) return undefined
    const isForIt = frame.n === n && frame.from === host && frame.to === this.#options.host && frame.toRun === this.#run
    return isForIt ? { frame, body: message.body } : undefined
  }

  #settle(n: number, exchanged: Exchanged): void {
    const pending = this.#pending.get(n)
    if (pending === undefined) return
    this.#pending.delete(n)
    pending.timer.cancel()
    pending.resolve(exchanged)
  }

  /** A host that is lost is not waited for any longer. */
  #tickLater(): Timer {
    return this.#options.clock.after(TICK_MS, () => {
      for (const [n, { host }] of this.#pending) if (!this.#options.isReachable(host)) this.#settle(n, { none: 'gone' })
      this.#ticker = this.#pending.size > 0 && !this.#closed ? this.#tickLater() : undefined
    })
  }

  /** What was sent before may be lost, and its answer too. */
  async #watchReconnects(): Promise<void> {
    for await (const { type } of this.#options.nats.status()) {
      if (this.#closed) return
      if (type === 'reconnect') for (const n of this.#pending.keys()) this.#settle(n, { none: 'silence' })
    }
  }

  #peerOf(host: string): Peer {
    const known = this.#peers.get(host)
    if (known !== undefined) return known
    const peer: Peer = { run: '', acks: [] }
    this.#peers.set(host, peer)
    return peer
  }
}

/** Of a host that cannot be reached. */
export const unreachable = (host: string, what: string, { data, ...details }: ErrorDetails = {}): AgentprotoError =>
  new AgentprotoError('host_unreachable', what, {
    given: host,
    hint: 'Try again later; `agentproto hosts` has the time when it was last heard from',
    ...details,
    data: { host, retryAfter: RETRY_AFTER_SECONDS, ...data },
  })

interface ErrorDetails {
  readonly expected?: string
  readonly given?: string
  readonly hint?: string
  readonly data?: Json
}

const RETRY_AFTER_SECONDS = 5
const NOTHING = new Uint8Array()
