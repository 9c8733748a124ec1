import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Timer } from '@agentproto/contracts'
import type { ClientMessages } from '../client-messages.js'
import { isInitialize, parsedMessage } from '../refused-message.js'
import type { AcpSocket } from '@agentproto/contracts/wire'
import type { AcpLimits } from './acp-endpoint.js'
import { InputQueue } from './input-queue.js'
import { type Liveness, watchSocket } from './socket-liveness.js'
import { SocketOutput } from './socket-output.js'

/** Close codes (RFC 6455 §7.4.1). */
export const GOING_AWAY = 1001
const PROTOCOL_ERROR = 1002
const NOT_TEXT = 1003
export const POLICY = 1008
const TOO_LARGE = 1009

/** Messages of one client that are handled in one turn of the event loop: more of them keep the others waiting. */
const IN_ONE_TURN = 16

interface Options {
  readonly limits: AcpLimits
  readonly clock: Clock
  /** Called once, when the socket is closed or given up. */
  readonly onEnd: () => void
}

/** A client on a WebSocket: one message a frame. */
export class SocketMessages implements ClientMessages {
  readonly received: AsyncIterable<unknown>
  readonly #socket: AcpSocket
  readonly #options: Options
  readonly #input: InputQueue
  readonly #output: SocketOutput
  readonly #handshake: Timer
  readonly #liveness: Liveness
  #isOver = false

  constructor(socket: AcpSocket, options: Options) {
    const { limits, clock } = options
    const onDead = (): void => this.#giveUp()
    this.#socket = socket
    this.#options = options
    this.#input = new InputQueue(limits.outputBytes)
    this.#output = new SocketOutput(socket, { limits, clock, onStalled: onDead })
    this.#handshake = clock.after(limits.handshakeMs, () => this.end('No initialize in time'))
    this.#liveness = watchSocket(socket, { clock, limits, onDead })
    this.received = this.#messages()
    socket.on('message', (data, isBinary) => this.#arrived(data, isBinary))
    socket.on('close', () => this.#over())
    socket.on('error', onDead)
  }

  send(message: object): Promise<void> | undefined {
    return this.#isOver ? undefined : this.#output.send(JSON.stringify(message))
  }

  sendJson(json: string): Promise<void> | undefined {
    return this.#isOver ? undefined : this.#output.send(json)
  }

  together(sendAll: () => void): void {
    if (this.#socket.together === undefined) sendAll()
    else this.#socket.together(sendAll)
  }

  /** Closes the connection, with a reason that the client gets. Idempotent. */
  end(reason: string, code = POLICY): void {
    if (this.#isOver) return
    this.#socket.close(code, reason)
    this.#over()
  }

  #arrived(data: unknown, isBinary: boolean): void {
    if (this.#isOver) return
    this.#liveness.seen()
    if (isBinary) return this.end('Messages are text frames', NOT_TEXT)
    const text = String(data)
    if (text.length > this.#options.limits.messageBytes) return this.end('The message is too large', TOO_LARGE)
    if (!this.#input.push(text)) this.end('Too many messages wait; read the answers')
  }

  /** Parsed when it is its turn: a client that does not read gets no further answers, nor is more parsed for it. */
  async *#messages(): AsyncGenerator<unknown, undefined> {
    let isGreeted = false
    let handled = 0
    for (let text = await this.#input.next(); text !== undefined; text = await this.#input.next()) {
      // What waits is taken without a turn of the event loop between.
      if (++handled % IN_ONE_TURN === 0) await nextTurn()
      const message = parsedMessage(text)
      if (!isGreeted && !('value' in message && isInitialize(message.value)))
        return this.end('The first message must be initialize', PROTOCOL_ERROR) as undefined
      isGreeted = true
      this.#handshake.cancel()
      if ('refusal' in message) await this.send(message.refusal)
      else yield message.value
    }
    return undefined
  }

  #giveUp(): void {
    this.#socket.terminate()
    this.#over()
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handshake.cancel()
    this.#liveness.stop()
    this.#input.close()
    this.#output.close()
    this.#options.onEnd()
  }
}
