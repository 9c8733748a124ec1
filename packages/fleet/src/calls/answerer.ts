import { randomBytes } from 'node:crypto'
import type { Clock, Timer } from '@agentproto/contracts'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { Admission, type Refused } from './admission.js'
import { openCallService } from './call-service.js'
import { type RefusalReason, type Reply, type RequestFrame, VALID_MS } from './call-frame.js'
import type { SharedServices } from './places.js'
import { PeerCalls } from './peer-calls.js'
import { seal, SEAL_BYTES } from '../keys/signature.js'
import { answerSubject, isAnswerSubject } from '../subjects.js'

/** Hosts that have something open here. */
const MAX_PEERS = 1_024
const SWEEP_MS = 10_000
/** Refusals that are answered in one sweep, so that a flood is not doubled. */
const MAX_REFUSALS = 100

export interface AnswererOptions {
  readonly nats: NatsConnection
  /** The name of this host. */
  readonly host: string
  /** The key of the fleet. */
  readonly key: Uint8Array
  /** The services of this host, with hooks and audit. */
  readonly own: SharedServices
  readonly clock: Clock
  /** The longest message that the server takes, in bytes. */
  readonly maxPayload: number
  /** Whether this host may run a session now; without it always. A call that would change one that it may not is refused. */
  readonly mayRun?: (sessionId: string) => boolean
  readonly onProblem: (problem: string) => void
}

type Received = Pick<Msg, 'data' | 'reply'>

/** Answers the calls of other hosts with the services of this one. */
export class Answerer {
  readonly #options: AnswererOptions
  readonly #run = randomBytes(9).toString('base64url')
  readonly #admission: Admission
  readonly #peers = new Map<string, PeerCalls>()
  #stop: () => void = () => undefined
  readonly #partBytes: number
  #refusals = 0
  #timer: Timer

  private constructor(options: AnswererOptions) {
    this.#options = options
    this.#partBytes = options.maxPayload - SEAL_BYTES
    this.#admission = new Admission(options)
    this.#timer = this.#sweepLater()
  }

  static async open(options: AnswererOptions): Promise<Answerer> {
    const answerer = new Answerer(options)
    answerer.#stop = await openCallService({ ...options, receive: (message) => answerer.#receive(message) })
    return answerer
  }

  /** Readers that other hosts have open here. */
  get openReaders(): number {
    let open = 0
    for (const peer of this.#peers.values()) open += peer.openReaders
    return open
  }

  /** Ends what other hosts read and wait for here. */
  close(): void {
    this.#timer.cancel()
    this.#stop()
    for (const peer of this.#peers.values()) peer.close()
    this.#peers.clear()
  }

  /** A host is gone: its readers are closed. */
  forget(host: string): void {
    this.#peers.get(host)?.close()
  }

  #receive(message: Received): void {
    const admitted = this.#admission.admit(message.data)
    if ('refused' in admitted) return this.#refuse(admitted, message)
    const { frame, body } = admitted
    if (frame.toRun !== this.#run) return this.#send(frame, { state: 'other_run' })
    const peer = this.#peerOf(frame.from)
    if (peer === undefined) return this.#send(frame, this.#refused('too_many_hosts'))
    peer.handle(frame, body, (reply, bytes) => this.#send(frame, reply, bytes))
  }

  /** A host with a wrong clock learns the reason; what no host has signed gets an answer without a signature. */
  #refuse({ refused, frame }: Refused, { reply }: Received): void {
    this.#refusals += 1
    if (this.#refusals === 1) this.#options.onProblem(`A call of another host was refused: ${refused}`)
    if (this.#refusals > MAX_REFUSALS) return
    if (frame !== undefined) return this.#send(frame, this.#refused(refused))
    if (reply === undefined || !isAnswerSubject(reply)) return
    const { nats } = this.#options
    const head = { kind: 'answer', ...this.#refused(refused) }
    if (!nats.isClosed()) nats.publish(reply, seal(new Uint8Array(), head, NOTHING))
  }

  #refused(reason: RefusalReason): Reply {
    return { state: 'refused', reason, now: this.#options.clock.now() }
  }

  /** To the host that signed the message, whatever subject the message names for its answer. */
  #send({ from, run, n }: RequestFrame, reply: Reply, body: Uint8Array = NOTHING): void {
    const { nats, host, key, clock } = this.#options
    if (nats.isClosed()) return
    const expires = clock.now() + VALID_MS
    const envelope = { kind: 'answer', from: host, to: from, run: this.#run, toRun: run, n, expires }
    nats.publish(answerSubject(from, n), seal(key, { ...envelope, ...reply }, body))
  }

  #peerOf(host: string): PeerCalls | undefined {
    const known = this.#peers.get(host)
    if (known !== undefined || this.#peers.size >= MAX_PEERS) return known
    const { own, clock, onProblem, mayRun = () => true } = this.#options
    const onError = (error: unknown): void =>
      onProblem(
        `A call of the host ${host}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      )
    const peer = new PeerCalls({ host, own, clock, partBytes: this.#partBytes, onError, mayRun })
    this.#peers.set(host, peer)
    return peer
  }

  #sweepLater(): Timer {
    return this.#options.clock.after(SWEEP_MS, () => {
      this.#refusals = 0
      for (const [host, peer] of this.#peers) if (peer.sweep()) this.#peers.delete(host)
      this.#timer = this.#sweepLater()
    })
  }
}

const NOTHING = new Uint8Array()
