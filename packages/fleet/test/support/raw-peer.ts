import { randomBytes } from 'node:crypto'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { seal, unseal } from '../../src/keys/signature.ts'
import { answersTo, answerSubject, callSubject } from '../../src/subjects.ts'
import { KEY } from './two-hosts.ts'

export interface RawAnswer {
  readonly state: string
  readonly reason?: string
  readonly run?: string
  readonly outcome?: unknown
  readonly [member: string]: unknown
}

interface Sent {
  readonly head?: object
  readonly body?: unknown
  readonly key?: Uint8Array
  /** What is sent in the place of the signed message. */
  readonly change?: (message: Uint8Array) => Uint8Array
}

/** A client of the same NATS account that writes each message itself. */
export class RawPeer {
  readonly run = randomBytes(6).toString('hex')
  readonly #nats: NatsConnection
  readonly #from: string
  readonly #answers = new Map<number, (message: Msg) => void>()
  /** All that was sent to the host. */
  readonly sent: Uint8Array[] = []
  toRun = ''
  n = 0

  constructor(nats: NatsConnection, from = 'b') {
    this.#nats = nats
    this.#from = from
    nats.subscribe(answersTo(from), {
      callback: (_, message) => this.#answers.get(Number(message.subject.split('.').at(-1)))?.(message),
    })
  }

  /** Learns the run of the host. */
  async meet(host = 'a'): Promise<void> {
    const { run } = await this.ask({ head: { kind: 'alive', to: host } })
    this.toRun = run ?? ''
  }

  /** @returns the answer, whoever signed it */
  async ask({ head = {}, body = {}, key = KEY, change = (message) => message }: Sent): Promise<RawAnswer> {
    this.n += 1
    const { n, run, toRun } = this
    const envelope = { from: this.#from, to: 'a', run, toRun, n, expires: Date.now() + 30_000 }
    const message = change(seal(key, { ...envelope, ...head }, Buffer.from(JSON.stringify(body))))
    return this.send(message, { n })
  }

  /** Sends a message as it is, also one that was sent before. */
  async send(message: Uint8Array, { n = this.n, to = 'a' } = {}): Promise<RawAnswer> {
    this.sent.push(message)
    const answered = new Promise<Msg>((resolve) => this.#answers.set(n, resolve))
    this.#nats.publish(callSubject(to), message, { reply: answerSubject(this.#from, n) })
    const { data } = await answered
    const signed = unseal(KEY, data) ?? unseal(new Uint8Array(), data)
    const outcome: unknown = signed?.body.length ? JSON.parse(Buffer.from(signed.body).toString()) : undefined
    return { ...(signed?.head as RawAnswer), isSigned: unseal(KEY, data) !== undefined, outcome }
  }

  /** Calls a method as a host of the fleet. */
  async call(method: string, body: unknown, head: object = {}): Promise<RawAnswer> {
    const call = { kind: 'call', id: randomBytes(6).toString('hex'), method, begun: Date.now(), parts: 0 }
    return this.ask({ head: { ...call, ...head }, body })
  }
}
