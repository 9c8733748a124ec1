import type { Json } from '@agentproto/contracts'
import type { AcpClient } from '../client.js'
import type { AgentSocket } from './socket-stream.js'

/** What is read from the connections of an agent. While the host has not taken it, nothing more is read. */
export class Intake {
  readonly #client: AcpClient
  readonly #socket: () => Pick<AgentSocket, 'pause' | 'resume'> | undefined
  #isFlushing = false
  /** How many batches the host has not taken yet. */
  #pressure = 0

  /** @param socket that of the connection that is open */
  constructor(client: AcpClient, socket: () => Pick<AgentSocket, 'pause' | 'resume'> | undefined) {
    this.#client = client
    this.#socket = socket
  }

  /** What one read of the socket brings is one batch. */
  take(message: Json): void {
    this.#client.handleMessage(message)
    if (this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(() => {
      this.#isFlushing = false
      this.#holdUp(this.#client.flush())
    })
  }

  /** A frame that is no message of ACP. */
  dropBinary(bytes: number): void {
    const text = `A message of the agent was dropped: it was a binary frame of ${bytes} bytes, and ACP is text.`
    this.#holdUp(this.#client.notify({ type: 'notice', severity: 'error', text }))
  }

  #holdUp(taken: void | Promise<void>): void {
    if (!taken) return
    this.#pressure++
    this.#socket()?.pause()
    void taken.finally(() => {
      if (--this.#pressure === 0) this.#socket()?.resume()
    })
  }
}
