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
import { refusalOf, unavailable } from './wire-connection.js'
import type { WireConnection } from './wire-connection.js'

type Fields = Readonly<Record<string, unknown>>

/** One agent over the connection of its controller. */
export class ConnectedAgent implements KeptAgent {
  readonly key: string
  readonly process: AgentProcessInfo
  readonly kept: Readonly<Record<KeptStream, KeptRange>>
  readonly exit: Promise<ProcessExit>
  readonly lost: Promise<KeptLoss>
  #connection: WireConnection
  /** Called when the keeper has forgotten it. */
  onReleased = (): void => {}
  readonly #queueBytes: number
  readonly #readers = new Map<KeptStream, StreamReader>()
  #facts: string
  #exited: (exit: ProcessExit) => void = () => {}
  #onLost: (loss: KeptLoss) => void = () => {}
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
  #isClosing = false
  #isReleasing = false
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
    this.lost = new Promise((resolve) => (this.#onLost = resolve))
    this.exit = new Promise((resolve) => (this.#exited = resolve))
    if (described['exit'] !== undefined) this.#exited(exitOf(described['exit']))
  }

  get facts(): string {
    return this.#facts
  }

  read(stream: KeptStream, from: number): StreamReader {
    const request = (op: string, more: object): Promise<void> => this.#request(op, { ...more, stream })
    const reader = new StreamReader({ from, request })
    this.#readers.set(stream, reader)
    reader.on('error', () => {})
    reader.once('close', () => this.#stopped(stream, reader))
    return reader
  }

  /** What is not read any more is not sent either. */
  #stopped(stream: KeptStream, reader: StreamReader): void {
    if (this.#readers.get(stream) !== reader) return
    this.#readers.delete(stream)
    if (reader.isFollowing) void this.#request('read', { stream, from: reader.at, bytes: 0 }).catch(() => {})
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
    const end = (): void => {
      this.#isClosing = true
      void this.#request('close-input').catch(() => {})
    }
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
    this.#isReleasing = true
    try {
      await this.#request('release')
    } catch (error) {
      if (refusalOf(error)['code'] !== 'agent_running') throw error
      // A keeper that was frozen learns of the end later than its gateway.
      await Promise.race([this.exit, this.lost])
      await this.#request('release')
    }
    this.onReleased()
  }

  /** Ends an agent that has no session. */
  async end(): Promise<void> {
    await this.#request('signal', { signal: 'SIGKILL' })
    await this.release()
  }

  /**
   * Goes on over another connection of this host, after another program had the keeper.
   * @param described as `list` describes it
   * @returns false when it is not where it was: something was written to it, or what was not read yet is not kept
   */
  goOn(described: Fields, connection: WireConnection): boolean {
    const { pid, startTime, exit } = described
    const { stdin, stdout, stderr } = asRecord(described['streams'])
    if (pid !== this.process.pid || startTime !== this.process.startTime) return false
    if (!this.#hasAccepted(rangeOf(stdin).next)) return false
    this.#connection = connection
    if (!this.#readsOn('stdout', stdout) || !this.#readsOn('stderr', stderr)) return false
    if (exit !== undefined) this.#exited(exitOf(exit))
    if (isStalled(stdout) || isStalled(stderr)) this.#onFull()
    this.#writeOn(asNumber(described['delivered']) ?? 0, asRecord(stdin)['ended'] === true)
    return true
  }

  /** This host can no longer reach it. */
  lose(loss: KeptLoss): void {
    this.#onLost(loss)
    this.#dropInput()
    for (const reader of this.#readers.values()) reader.destroy(unavailable(loss.reason))
  }

  /** What the keeper says of this agent. */
  handle(push: Fields, body: Buffer): void {
    const reader = this.#readers.get(streamOf(push))
    if (push['push'] === 'data') reader?.receive(body)
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
      // The connection is lost: the next one says what was accepted.
      if (code === undefined) return
      // What was sent after a refused write is refused for its offset, and is already waiting again.
      if (this.#sent[0] !== bytes) return
      if (code !== 'input_full') return this.#dropInput()
      this.#sendAgain(at)
      this.#isFull = true
    })
  }

  #readsOn(stream: KeptStream, described: unknown): boolean {
    return this.#readers.get(stream)?.goOn(rangeOf(described)) ?? true
  }

  /** What was asked for when the connection was lost is asked for again. */
  #writeOn(delivered: number, inputEnded: boolean): void {
    this.#inputEnded ||= inputEnded
    this.#isFull = false
    this.#delivered = delivered
    this.#send()
    if (this.#isClosing) void this.#request('close-input').catch(() => {})
    if (this.#isReleasing) void this.release().catch(() => {})
  }

  /** @param next the keeper's next offset of stdin. @returns false unless it is the end of a write of this host */
  #hasAccepted(next: number): boolean {
    let at = this.#at - this.#sent.reduce((sum, { length }) => sum + length, 0)
    while (at < next && this.#sent.length > 0) at += this.#sent.shift()?.length ?? 0
    this.#sendAgain(at)
    return at === next
  }

  #sendAgain(from: number): void {
    this.#waiting = [...this.#sent, ...this.#waiting]
    this.#sent = []
    this.#at = from
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
