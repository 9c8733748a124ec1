import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { asRecord } from '@agentproto/contracts'
import { encodeFrame, FrameReader, PEER_LIMITS } from '../program/frames.js'

type Fields = Readonly<Record<string, unknown>>

/** What came from the keeper. */
export interface Received {
  readonly header: Fields
  readonly body: Buffer
}

/** A peer that says exactly what a test says, also what no gateway would. */
export class RawPeer {
  readonly socket: Socket
  readonly received: Received[] = []
  readonly closed: Promise<unknown>
  #nextId = 1
  readonly #streams = new Map<string, Buffer[]>()
  readonly #waiting = new Set<() => void>()
  #isClosed = false

  constructor(socket: Socket) {
    this.socket = socket
    const frames = new FrameReader(PEER_LIMITS)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const { header, body } of frames.push(chunk)) this.#keep({ header: asRecord(header), body })
      this.#wake()
    })
    this.closed = once(socket, 'close').then(() => {
      this.#isClosed = true
      this.#wake()
    })
  }

  /** Sends a request and gives its answer, or its error. */
  async ask(op: string, parameters: Fields = {}, body?: Buffer): Promise<Fields> {
    const id = this.#nextId++
    this.socket.write(encodeFrame({ ...parameters, id, op }, body))
    const { header } = await this.next(({ header: { id: answered } }) => answered === id)
    return header
  }

  /** The code with which a request is refused. */
  async refusal(op: string, parameters: Fields = {}, body?: Buffer): Promise<unknown> {
    const answer = await this.ask(op, parameters, body)
    return asRecord(answer['error'])['code']
  }

  /** The first frame, also of those that came already, that a test waits for. */
  async next(isWanted: (frame: Received) => boolean): Promise<Received> {
    for (;;) {
      const found = this.received.find(isWanted)
      if (found) return found
      await this.#more()
    }
  }

  /** The first push of a kind, about a stream if one is named. */
  async pushed(push: string, stream?: string): Promise<Fields> {
    const { header } = await this.next(
      ({ header: each }) => each['push'] === push && (stream ?? each['stream']) === each['stream'],
    )
    return header
  }

  /** What came of a stream so far. */
  bytesOf(stream: string): Buffer {
    return Buffer.concat(this.#streams.get(stream) ?? [])
  }

  /** How much came of a stream so far. */
  sizeOf(stream: string): number {
    return (this.#streams.get(stream) ?? []).reduce((sum, { length }) => sum + length, 0)
  }

  /** Waits for as many bytes of a stream. */
  async bytes(stream: string, count: number): Promise<Buffer> {
    while (this.sizeOf(stream) < count) await this.#more()
    return this.bytesOf(stream)
  }

  #keep(frame: Received): void {
    this.received.push(frame)
    const { push, stream } = frame.header
    if (push === 'data' && typeof stream === 'string')
      this.#streams.set(stream, [...(this.#streams.get(stream) ?? []), frame.body])
  }

  #more(): Promise<void> {
    assert.ok(!this.#isClosed, 'the keeper closed the connection')
    return new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resume of waiting) resume()
  }
}
