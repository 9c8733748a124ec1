import type { Socket } from 'node:net'
import { AgentprotoError, asNumber, asRecord, asString } from '@agentproto/contracts'
import type { KeptLoss } from '@agentproto/contracts/agent'
import { type Dialect, NEWEST } from './dialects.js'
import { encodeFrame, FrameReader, PEER_LIMITS } from './program/frames.js'
import { Refusal } from './program/refusal.js'

type Fields = Readonly<Record<string, unknown>>

interface Pending {
  readonly answered: (answer: Fields) => void
  readonly failed: (error: AgentprotoError) => void
}

/** What the keeper says without being asked. */
export type OnPush = (push: Fields, body: Buffer) => void

/** Requests and answers over the socket of a keeper (docs/keeper.md). */
export class WireConnection {
  /** Settles with the reason when the connection ended; never rejects. */
  readonly lost: Promise<KeptLoss>
  readonly #socket: Socket
  readonly #frames = new FrameReader(PEER_LIMITS)
  readonly #pending = new Map<number, Pending>()
  readonly #onPush: OnPush
  /** Of the version that both speak. */
  dialect: Dialect = NEWEST
  #nextId = 1
  #loss: KeptLoss = { cause: 'unreachable', reason: 'the keeper has ended' }
  #isLost = false

  constructor(socket: Socket, onPush: OnPush) {
    this.#socket = socket
    this.#onPush = onPush
    socket.on('error', () => {})
    socket.on('data', (chunk) => this.#receive(chunk))
    this.lost = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isLost = true
        for (const { failed } of this.#pending.values()) failed(unavailable(this.#loss.reason))
        this.#pending.clear()
        resolve(this.#loss)
      })
    })
  }

  /**
   * Sends a request.
   * @param read called with the answer before anything is handled that the keeper sent after it
   * @throws `keeper_unavailable`, and `internal` for what the keeper refuses, with its code as `data.refusal`
   */
  request<T>(header: Fields, read: (answer: Fields) => T, body?: Buffer): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isLost) return reject(unavailable(this.#loss.reason))
      const id = this.#nextId++
      this.#pending.set(id, { answered: (answer) => resolve(read(answer)), failed: reject })
      this.#corked()
      this.#socket.write(encodeFrame(this.dialect.request({ ...header, id }), body))
    })
  }

  /** What one step of the host asks for is one write, and wakes the keeper once. */
  #corked(): void {
    if (this.#socket.writableCorked > 0) return
    this.#socket.cork()
    process.nextTick(() => this.#socket.uncork())
  }

  close(reason: string, cause: KeptLoss['cause'] = 'unreachable'): void {
    this.#loss = { cause, reason }
    this.#socket.uncork()
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    try {
      for (const { header, body } of this.#frames.push(chunk)) this.#handle(this.dialect.frame(asRecord(header)), body)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      this.close('the keeper sent what is no frame')
    }
  }

  #handle(frame: Fields, body: Buffer): void {
    const id = asNumber(frame['id'])
    if (id === undefined) {
      if (frame['push'] === 'closed') this.#loss = lossOf(asString(frame['code']))
      return this.#onPush(frame, body)
    }
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (frame['error'] === undefined) pending?.answered(frame)
    else pending?.failed(refused(asRecord(frame['error'])))
  }
}

/** The keeper's refusal: its code and what belongs to it. */
export const refusalOf = (error: unknown): Fields =>
  error instanceof AgentprotoError ? asRecord(error.parts.data?.['refusal']) : {}

/** Whether a keeper is alive with which no version of the wire is shared. */
export const speaksOtherWire = (error: unknown): boolean => refusalOf(error)['code'] === 'wire_unsupported'

export const unavailable = (reason: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('keeper_unavailable', `The keeper cannot be used: ${reason}`, { cause })

/** `hello` was refused. */
export function notWelcome(refusal: Fields, spoken: readonly number[], cause?: unknown): AgentprotoError {
  if (refusal['code'] !== 'wire_unsupported')
    return unavailable(`it refused the connection (${String(refusal['code'])})`, cause)
  return new AgentprotoError('keeper_unavailable', 'The keeper holds agents and speaks another version of its wire', {
    expected: `one of ${spoken.join(', ')}`,
    given: refusal['wire'],
    hint: 'Start the agentproto that started these agents, or end them with its `agentproto stop`. This one ends none of them.',
    data: { refusal },
    cause,
  })
}

const refused = (refusal: Fields): AgentprotoError =>
  new AgentprotoError('internal', 'The keeper refused an operation', { given: refusal['code'], data: { refusal } })

const lossOf = (code: string | undefined): KeptLoss =>
  code === 'displaced'
    ? { cause: 'taken-over', reason: 'another gateway took over' }
    : { cause: 'unreachable', reason: `the keeper closed the connection (${code ?? 'unknown'})` }
