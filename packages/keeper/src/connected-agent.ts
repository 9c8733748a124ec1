import { asNumber, asRecord, asString } from '@agentproto/contracts'
import { KEPT_STREAMS } from '@agentproto/contracts/agent'
import type {
  AgentProcessInfo,
  KeptAgent,
  KeptLoss,
  KeptRange,
  KeptStream,
  ProcessExit,
  StreamOffsets,
} from '@agentproto/contracts/agent'
import { StreamReader } from './stream-reader.js'
import { refusalOf } from './wire-connection.js'
import type { WireConnection } from './wire-connection.js'

type Fields = Readonly<Record<string, unknown>>

/** One agent over the connection of its controller. */
export class ConnectedAgent implements KeptAgent {
  readonly key: string
  readonly process: AgentProcessInfo
  readonly kept: Readonly<Record<KeptStream, KeptRange>>
  readonly exit: Promise<ProcessExit>
  readonly lost: Promise<KeptLoss>
  readonly #connection: WireConnection
  readonly #queueBytes: number
  readonly #readers = new Map<KeptStream, StreamReader>()
  #facts: string
  #exited: (exit: ProcessExit) => void = () => {}
  /** Offset of the next byte for stdin that is sent. */
  #at: number
  #delivered: number
  /** Sent, and not yet accepted. */
  #sent: Buffer[] = []
  /** Not yet sent. */
  #waiting: Buffer[] = []
  /** The keeper has no room until something is delivered or acknowledged. */
  #isFull = false
  #inputEnded = false
  /** Some output is not read at present. */
  #isStalled = false
  #onFull = (): void => {}
  #room: { readonly promise: Promise<void>; readonly open: () => void } | undefined

  /** @param described as `list` describes it */
  constructor(described: Fields, connection: WireConnection, queueBytes: number) {
    this.key = asString(described['key']) ?? ''
    this.process = { pid: asNumber(described['pid']) ?? 0, startTime: asString(described['startTime']) ?? '' }
    const streams = asRecord(described['streams'])
    this.kept = {
      stdin: rangeOf(streams['stdin']),
      stdout: rangeOf(streams['stdout']),
      stderr: rangeOf(streams['stderr']),
    }
    this.#facts = asString(described['facts']) ?? ''
    this.#at = this.kept.stdin.next
    this.#delivered = asNumber(described['delivered']) ?? this.#at
    this.#inputEnded = asRecord(streams['stdin'])['ended'] === true
    this.#isStalled = Object.values(streams).some(isStalled)
    this.#connection = connection
    this.#queueBytes = queueBytes
    this.lost = connection.lost
    this.exit = new Promise((resolve) => (this.#exited = resolve))
    if (described['exit'] !== undefined) this.#exited(exitOf(described['exit']))
    void connection.lost.then(() => this.#dropInput())
  }

  get facts(): string {
    return this.#facts
  }

  read(stream: KeptStream, from: number): AsyncIterable<Buffer> {
    const reader = new StreamReader({ connection: this.#connection, key: this.key, stream, from })
    this.#readers.set(stream, reader)
    return reader
  }

  write(bytes: string): void | Promise<void> {
    if (this.#inputEnded || bytes === '') return
    this.#waiting.push(Buffer.from(bytes))
    this.#send()
    if (this.#waiting.length === 0) return
    let open = (): void => {}
    this.#room ??= { promise: new Promise<void>((resolve) => (open = resolve)), open }
    return this.#room.promise
  }

  endInput(): void {
    if (this.#inputEnded) return
    // After what waits: the order of a pipe.
    const end = (): void => void this.#request('close-input').catch(() => {})
    if (this.#room) void this.#room.promise.then(end)
    else end()
  }

  async acknowledge(upTo: StreamOffsets, facts: string, isBusy: boolean): Promise<void> {
    await this.#request('acknowledge', { ...upTo, facts, busy: isBusy })
    this.#facts = facts
    this.#isFull = false
    this.#send()
  }

  onFull(listener: () => void): void {
    this.#onFull = listener
    if (this.#isStalled) listener()
  }

  async release(): Promise<void> {
    try {
      await this.#request('release')
    } catch (error) {
      if (refusalOf(error)['code'] !== 'agent_running') throw error
      // A keeper that was frozen learns of the end later than its gateway.
      await Promise.race([this.exit, this.lost])
      await this.#request('release')
    }
  }

  /** Ends an agent that has no session. */
  async end(): Promise<void> {
    await this.#request('signal', { signal: 'SIGKILL' })
    await this.release()
  }

  /** What the keeper says of this agent. */
  handle(push: Fields, body: Buffer): void {
    const reader = this.#readers.get(streamOf(push))
    if (push['push'] === 'data') reader?.push(body)
    if (push['push'] === 'end') reader?.end()
    if (push['push'] === 'exit') this.#exited(exitOf(push['exit']))
    if (push['push'] === 'delivered') this.#hasDelivered(push['upTo'])
    if (push['push'] === 'intake' && isStalled(push)) this.#onFull()
  }

  #hasDelivered(upTo: unknown): void {
    const delivered = Math.max(this.#delivered, asNumber(upTo) ?? 0)
    if (delivered === this.#delivered) return
    this.#delivered = delivered
    this.#isFull = false
    this.#send()
  }

  #send(): void {
    while (!this.#isFull && !this.#inputEnded) {
      const [bytes] = this.#waiting
      const pending = this.#at - this.#delivered
      if (bytes === undefined || (pending > 0 && pending + bytes.length > this.#queueBytes)) break
      this.#waiting.shift()
      this.#sent.push(bytes)
      this.#sendOne(bytes, this.#at)
      this.#at += bytes.length
    }
    if (this.#waiting.length > 0) return
    this.#room?.open()
    this.#room = undefined
  }

  #sendOne(bytes: Buffer, at: number): void {
    const { key } = this
    const accepted = ({ delivered }: Fields): void => {
      this.#sent.shift()
      this.#hasDelivered(delivered)
    }
    this.#connection.request({ op: 'write', key, at }, accepted, bytes).catch((error: unknown) => {
      const { code } = refusalOf(error)
      // What was sent after a refused write is refused for its offset, and is already waiting again.
      if (this.#sent[0] !== bytes) return
      if (code !== 'input_full') return this.#dropInput()
      this.#waiting = [...this.#sent, ...this.#waiting]
      this.#sent = []
      this.#at = at
      this.#isFull = true
    })
  }

  #dropInput(): void {
    this.#inputEnded = true
    this.#waiting = []
    this.#sent = []
    this.#send()
  }

  #request(op: string, more: Fields = {}): Promise<void> {
    return this.#connection.request({ ...more, op, key: this.key }, () => {})
  }
}

const streamOf = (push: Fields): KeptStream => KEPT_STREAMS.find((name) => name === push['stream']) ?? 'stdout'

const isStalled = (stream: unknown): boolean => ['full', 'disk'].includes(asString(asRecord(stream)['intake']) ?? '')

const rangeOf = (value: unknown): KeptRange => {
  const { first, next } = asRecord(value)
  return { first: asNumber(first) ?? 0, next: asNumber(next) ?? 0 }
}

// The keeper gives null for what does not apply.
function exitOf(value: unknown): ProcessExit {
  const { exitCode, signal } = asRecord(value)
  const [code, name] = [asNumber(exitCode), asString(signal)]
  return { ...(code === undefined ? {} : { exitCode: code }), ...(name === undefined ? {} : { signal: name }) }
}
