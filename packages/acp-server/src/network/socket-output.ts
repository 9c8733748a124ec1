import type { Clock, Timer } from '@agentproto/contracts'
import type { AcpSocket } from '@agentproto/contracts/wire'
import type { AcpLimits } from './acp-endpoint.js'

interface Options {
  readonly clock: Clock
  readonly limits: Pick<AcpLimits, 'outputBytes' | 'stallMs'>
  /** The client takes nothing of what waits for it. */
  readonly onStalled: () => void
}

/** Writes to a socket, and says when the client does not keep up. Only then does a message cost a promise. */
export class SocketOutput {
  readonly #socket: AcpSocket
  readonly #options: Options
  /** Resolves when the client has taken what waited; absent while it keeps up. */
  #full: Promise<void> | undefined
  #release: () => void = () => undefined
  #stall: Timer | undefined

  constructor(socket: AcpSocket, options: Options) {
    this.#socket = socket
    this.#options = options
  }

  send(text: string): Promise<void> | undefined {
    const { bufferedAmount } = this.#socket
    if (this.#full !== undefined || bufferedAmount + text.length < this.#options.limits.outputBytes) {
      this.#socket.send(text)
      return this.#full
    }
    this.#full = new Promise((resolve) => (this.#release = resolve))
    this.#watch(bufferedAmount)
    // Sockets have no event for it, but the callback of a message comes when all before it was handed over too.
    this.#socket.send(text, () => this.close())
    return this.#full
  }

  /** Lets all who wait go on. */
  close(): void {
    this.#stall?.cancel()
    this.#full = undefined
    this.#release()
  }

  #watch(before: number): void {
    const { clock, limits, onStalled } = this.#options
    this.#stall = clock.after(limits.stallMs, () => {
      const { bufferedAmount } = this.#socket
      if (bufferedAmount < before) this.#watch(bufferedAmount)
      else onStalled()
    })
  }
}
