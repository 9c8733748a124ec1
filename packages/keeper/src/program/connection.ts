import type { Socket } from 'node:net'
import type { Clock, Timer } from '@agentproto/contracts'
import { encodeFrame, FrameReader, PEER_LIMITS, STRANGER_LIMITS } from './frames.js'
import type { Frame } from './frames.js'
import type { HeldAgent, StreamName } from './held-agent.js'
import { Parameters, Refusal } from './refusal.js'

/** What may wait in a socket before nothing more is read from its peer, and no more output is put into it, in bytes. */
const SOCKET_BYTES = 1 << 20
/** What may wait in the socket of a peer that never reads, before it is closed, in bytes. */
const SOCKET_MAX_BYTES = 16 << 20
const DATA_BYTES = 256 << 10
/** How long an answer for which nothing waits may be held back, in milliseconds. Mostly, output of the agent comes sooner. */
const HELD_MS = 5
/** What only says that all is as it should be: a write of its own would wake the gateway in the middle of a turn. */
const PATIENT: ReadonlySet<string> = new Set(['write', 'acknowledge', 'grant'])

/** Answers one request; a promise is answered when it settles. @throws {@link Refusal} */
export type Answer = (connection: Connection, request: Parameters, body: Buffer) => object | Promise<object>

export interface ConnectionTimes {
  readonly clock: Clock
  /** Ends a peer that says nothing. */
  readonly helloTimer: Timer
}

interface Following {
  readonly agent: HeldAgent
  readonly stream: StreamName
  offset: number
  granted: number
}

/** One peer on the socket. */
export class Connection {
  /** What `hello` proved. */
  role: 'stranger' | 'observer' | 'controller' = 'stranger'
  /** As it says itself; 0 if it does not. */
  pid = 0
  readonly #socket: Socket
  readonly #answer: Answer
  readonly #frames = new FrameReader(STRANGER_LIMITS)
  readonly #followed = new Map<string, Following>()
  readonly #clock: Clock
  #isReceiving = false
  /** What waits in the socket is sent when the requests that came together have been handled. */
  #isUrgent = false
  /** Until the answers are sent for which nothing waits. */
  #held: Timer | undefined

  constructor(socket: Socket, answer: Answer, { clock, helloTimer }: ConnectionTimes) {
    this.#socket = socket
    this.#answer = answer
    this.#clock = clock
    socket.on('error', () => {})
    socket.once('close', () => helloTimer.cancel())
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('drain', () => {
      socket.resume()
      for (const following of this.#followed.values()) this.#sendFrom(following)
    })
  }

  accept(role: 'observer' | 'controller', pid = 0): void {
    this.role = role
    this.pid = pid
    this.#frames.limits = PEER_LIMITS
  }

  send(header: object, body?: Buffer): void {
    this.#put(header, body)
    if (this.#isReceiving) this.#isUrgent = true
    else this.#release()
  }

  #put(header: object, body?: Buffer): void {
    if (this.#socket.destroyed) return
    this.#socket.write(encodeFrame(header, body))
    if (this.#socket.writableLength > SOCKET_MAX_BYTES) this.#socket.destroy()
    // Requests of a peer that does not read its answers wait in the kernel.
    else if (this.#socket.writableLength > SOCKET_BYTES) this.#socket.pause()
  }

  /** Says why, and closes. */
  close(header: object): void {
    this.send(header)
    this.#socket.end()
    this.#socket.destroySoon()
    this.#followed.clear()
  }

  /** Begins to send a stream, as far as bytes are granted. A second `follow` of the same stream replaces the first. */
  follow(agent: HeldAgent, stream: StreamName, offset: number): void {
    this.#followed.set(`${stream} ${agent.key}`, { agent, stream, offset, granted: 0 })
  }

  grant(agent: HeldAgent, stream: StreamName, bytes: number): void {
    const following = this.#followed.get(`${stream} ${agent.key}`)
    if (following === undefined) return
    following.granted += bytes
    this.#sendFrom(following)
  }

  /** There are new bytes, or the stream has ended. */
  offer(agent: HeldAgent, stream: StreamName): void {
    const following = this.#followed.get(`${stream} ${agent.key}`)
    if (following) this.#sendFrom(following)
  }

  #sendFrom(following: Following): void {
    const { agent, stream } = following
    const kept = agent.streams[stream]
    // What was forgotten meanwhile was acknowledged by this peer itself.
    following.offset = Math.max(following.offset, kept.first)
    while (following.granted > 0 && following.offset < kept.next && this.#socket.writableLength < SOCKET_BYTES) {
      const bytes = kept.slice(following.offset, Math.min(following.granted, DATA_BYTES))
      this.send({ push: 'data', key: agent.key, stream, offset: following.offset }, bytes)
      following.offset += bytes.length
      following.granted -= bytes.length
    }
    if (following.offset < kept.next || !agent.ended[stream]) return
    this.#followed.delete(`${stream} ${agent.key}`)
    this.send({ push: 'end', key: agent.key, stream, offset: kept.next })
  }

  /** The answers are one write, after what the requests do. */
  #receive(chunk: Buffer): void {
    if (this.#socket.writableCorked === 0) this.#socket.cork()
    this.#isReceiving = true
    this.#isUrgent = false
    try {
      for (const frame of this.#frames.push(chunk)) {
        if (this.#socket.destroyed || this.#socket.writableEnded) return
        this.#handle(frame)
      }
    } catch (error) {
      this.close({ push: 'closed', code: codeOf(error) })
    } finally {
      this.#isReceiving = false
      if (this.#isUrgent) this.#release()
      else this.#held ??= this.#clock.after(HELD_MS, () => this.#release())
    }
  }

  #release(): void {
    this.#held?.cancel()
    this.#held = undefined
    this.#socket.uncork()
  }

  #handle({ header, body }: Frame): void {
    const request = new Parameters(header)
    const id = request.count('id')
    const refuse = (error: unknown): void => this.send({ id, error: { code: codeOf(error), ...dataOf(error) } })
    try {
      const answer = this.#answer(this, request, body)
      if (answer instanceof Promise) answer.then((later: object) => this.send({ id, ...later }), refuse)
      else if (PATIENT.has(request.text('op'))) this.#put({ id, ...answer })
      else this.send({ id, ...answer })
    } catch (error) {
      refuse(error)
    }
  }
}

const codeOf = (error: unknown): string => (error instanceof Refusal ? error.code : 'internal')
const dataOf = (error: unknown): object => (error instanceof Refusal ? error.data : {})
