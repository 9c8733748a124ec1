import { type Limit, within } from '@agentproto/arm-kit'
import { isRecord, type Json } from '@agentproto/contracts'
import { rpcFailure } from './failure.js'
import type { SendMessage } from './sdk-link.js'

/** Ids of our own requests begin here; the SDK counts its own from 0. */
export const FIRST_ID = 2 ** 30

/** Requests of ours whose answers are handled in order with the updates, which the SDK does not do. */
export class Calls {
  nextId = FIRST_ID
  readonly #write: SendMessage
  readonly #answered = new Map<unknown, (response: Json) => void>()
  /** Rejects the control requests that wait. */
  readonly #rejects = new Map<number, (reason: Error) => void>()

  constructor(write: SendMessage) {
    this.#write = write
  }

  /**
   * Sends a request, or a notification.
   * @param answered is called in order with the updates, or never; absent for a notification
   */
  send(method: string, params: object, answered?: (response: Json) => void): void {
    const id = answered && this.nextId++
    if (answered) this.#answered.set(id, answered)
    // Back-pressure of the agent's stdin is the pipe's: what is sent is bounded by the turns that run.
    void this.#write({ jsonrpc: '2.0', id, method, params })
  }

  /**
   * Sends a control request whose answer is handled in order with the updates, also when it comes too late for the caller.
   * @throws what the agent answered, `timeout`, or why the connection was closed
   */
  request(
    call: { readonly method: string; readonly params: object },
    limit: Limit,
    apply: (result: unknown) => void,
  ): Promise<void> {
    const { method, params } = call
    const id = this.nextId
    const answer = new Promise<void>((resolve, reject) => {
      this.#rejects.set(id, reject)
      this.send(method, params, (response) => {
        this.#rejects.delete(id)
        if (isRecord(response['error'])) return reject(rpcFailure(response['error']))
        apply(response['result'])
        resolve()
      })
    })
    return within(answer, `The agent did not answer ${method}`, limit).catch((thrown: unknown) => {
      if (this.#rejects.delete(id)) this.send('$/cancel_request', { requestId: id })
      throw thrown
    })
  }

  /** Handles the answer to a request that an earlier host sent. */
  expect(id: number, answered: (response: Json) => void): void {
    this.#answered.set(id, answered)
  }

  /** What handles an answer, once; undefined where no request of ours has its id. */
  take(id: unknown): ((response: Json) => void) | undefined {
    const answered = this.#answered.get(id)
    if (answered) this.#answered.delete(id)
    return answered
  }

  /** No answer comes any more: what waits for one rejects. */
  drop(reason: Error): void {
    this.#answered.clear()
    for (const reject of this.#rejects.values()) reject(reason)
    this.#rejects.clear()
  }
}
