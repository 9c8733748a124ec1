import { AgentprotoError, type Clock, ERRORS, randomId, type Timer } from '@agentproto/contracts'
import { type Ask, MAX_ARGUMENT_BYTES, type Outcome, READERS_ALIVE_MS } from './call-frame.js'
import { cutTexts } from './cut-texts.js'
import { Exchange, type ExchangeOptions, unreachable } from './exchange.js'
import { type HostCall, HostCalls } from './host-calls.js'
import { METHODS } from './methods.js'
import { answerTo, invalidAnswer, type Line, Lost, outcomeIn, type Operation, outcomeOf } from './operation.js'
import { RemoteReader } from './remote-reader.js'
import { SEAL_BYTES } from '../keys/signature.js'

/** A read that was lost is done again at most so often. */
const MAX_REPEATS = 3
/** How long the owner may take to end a cancelled call, in milliseconds. */
const CANCEL_MS = 1_000

export interface CallerOptions extends ExchangeOptions {
  readonly clock: Clock
  /** The longest message that the server takes, in bytes. */
  readonly maxPayload: number
}

interface Call extends HostCall {
  readonly host: string
}

/**
 * Calls the services of other hosts. Every call can throw `host_unreachable`; what its owner throws has the same code, message and
 * hint here. A call runs at most once.
 */
export class Caller {
  readonly #options: CallerOptions
  readonly #exchange: Exchange
  readonly #partBytes: number
  /** Ids of open readers, by host. */
  readonly #readers = new Map<string, Set<string>>()
  #alive: Timer | undefined

  constructor(options: CallerOptions) {
    this.#options = options
    this.#exchange = new Exchange(options)
    this.#partBytes = options.maxPayload - SEAL_BYTES
  }

  /** The calls to one host. */
  to(host: string): HostCalls {
    return new HostCalls(host, {
      run: async (call) => (await this.#run({ ...call, host })).outcome,
      open: (call) => this.#open({ ...call, host }),
    })
  }

  /** Waits for nothing: open calls are rejected, and open readers end at their hosts. */
  close(): void {
    this.#alive?.cancel()
    this.#exchange.close()
  }

  async #open(call: Call): Promise<RemoteReader> {
    const { host } = call
    const { outcome, id } = await this.#run(call)
    if (!('reader' in outcome)) throw invalidAnswer(host)
    const open = this.#readers.get(host) ?? new Set()
    this.#readers.set(host, open.add(id))
    this.#alive ??= this.#aliveLater()
    return new RemoteReader({
      read: (seq) => this.#read(host, id, seq),
      onClose: () => {
        open.delete(id)
        this.#exchange.post(host, { kind: 'cancel', id })
      },
    })
  }

  async #read(host: string, id: string, seq: number): Promise<Outcome> {
    const next: Ask = { kind: 'next', id, seq }
    try {
      return await outcomeOf(this.#line, { host, id, seq, first: next, again: next, body: NOTHING })
    } catch (thrown) {
      throw thrown instanceof Lost ? unreachable(host, 'The host has closed the reader') : thrown
    }
  }

  /** A read that was lost is done again, as another call; anything else is not, since it may have run. */
  async #run(call: Call): Promise<{ readonly outcome: Outcome; readonly id: string }> {
    const repeats = METHODS[call.name].principal ? 0 : MAX_REPEATS
    for (let repeat = 0; ; repeat++) {
      const id = randomId('')
      try {
        return { outcome: await this.#runOnce(call, id), id }
      } catch (thrown) {
        if (!(thrown instanceof Lost)) throw thrown
        if (repeat >= repeats) throw lost(call.host)
      }
    }
  }

  async #runOnce(call: Call, id: string): Promise<Outcome> {
    const { host, name, signal, text } = call
    const begun = this.#options.clock.now()
    const body = bodyOf(call)
    const parts = body.length <= this.#partBytes ? 0 : await this.#put(host, id, body)
    const operation: Operation = {
      host,
      id,
      seq: 0,
      first: { kind: 'call', id, method: name, begun, parts },
      again: { kind: 'wait', id, seq: 0 },
      body: parts === 0 ? body : NOTHING,
      signal,
    }
    try {
      const outcome = outcomeOf(this.#line, operation)
      const work = text === undefined ? outcome : this.#feed(operation, text, outcome)
      return await (signal === undefined ? work : this.#until(signal, operation, work))
    } finally {
      this.#exchange.acknowledge(host, id)
    }
  }

  /** @returns how many parts */
  async #put(host: string, id: string, body: Uint8Array): Promise<number> {
    const of = Math.ceil(body.length / this.#partBytes)
    for (let at = 0; at < of; at++) {
      const put: Ask = { kind: 'put', id, at, of }
      const part = body.subarray(at * this.#partBytes, (at + 1) * this.#partBytes)
      const { frame, body: answer } = await answerTo(this.#line, {
        host,
        id,
        seq: 0,
        first: put,
        again: put,
        body: part,
      })
      if (frame.state === 'done') outcomeIn(answer, host)
    }
    return of
  }

  /** Sends a text while the call that reads it runs; the next piece goes when the last one was read. */
  async #feed(operation: Operation, text: AsyncIterable<string>, outcome: Promise<Outcome>): Promise<Outcome> {
    let isOver = false
    const over = outcome.finally(() => (isOver = true))
    over.catch(() => undefined)
    let problem: { readonly thrown: unknown } | undefined
    try {
      let seq = 0
      for await (const piece of cutTexts(text, this.#partBytes)) {
        seq += 1
        await this.#piece(operation, { seq, piece, last: false }, () => isOver)
        if (isOver) break
      }
      await this.#piece(operation, { seq: seq + 1, piece: '', last: true }, () => isOver)
    } catch (thrown) {
      problem = { thrown }
      this.#exchange.post(operation.host, { kind: 'cancel', id: operation.id })
    }
    const result = await over.catch((thrown: unknown) => {
      throw problem?.thrown ?? thrown
    })
    if (problem !== undefined) throw problem.thrown
    return result
  }

  async #piece({ host, id }: Operation, { seq, piece, last }: Piece, isOver: () => boolean): Promise<void> {
    const feed: Ask = { kind: 'feed', id, seq, last }
    while (!isOver()) {
      try {
        await answerTo(this.#line, { host, id, seq: 0, first: feed, again: feed, body: Buffer.from(piece) })
        return
      } catch (thrown) {
        // The call itself may not have arrived yet; when it cannot arrive any more, it is over.
        if (!(thrown instanceof Lost)) throw thrown
        await this.#exchange.pause()
      }
    }
  }

  /** When the caller leaves, the owner ends the call and says so. */
  async #until(signal: AbortSignal, { host, id }: Operation, work: Promise<Outcome>): Promise<Outcome> {
    work.catch(() => undefined)
    let timer: Timer | undefined
    let leave: () => void = () => undefined
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        this.#exchange.post(host, { kind: 'cancel', id })
        timer = this.#options.clock.after(CANCEL_MS, () => reject(cancelled()))
      }
    })
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    try {
      return await Promise.race([work, left])
    } finally {
      signal.removeEventListener('abort', leave)
      timer?.cancel()
    }
  }

  #aliveLater(): Timer {
    return this.#options.clock.after(READERS_ALIVE_MS, () => {
      for (const [host, ids] of this.#readers) {
        if (ids.size === 0) this.#readers.delete(host)
        else this.#exchange.post(host, { kind: 'alive' }, Buffer.from(JSON.stringify([...ids])))
      }
      this.#alive = this.#readers.size > 0 ? this.#aliveLater() : undefined
    })
  }

  get #line(): Line {
    return { exchange: this.#exchange, clock: this.#options.clock }
  }
}

interface Piece {
  readonly seq: number
  readonly piece: string
  readonly last: boolean
}

/** `via` stays here: the host that answers knows who signed the call. @throws `payload_too_large` */
function bodyOf({ args, by }: Call): Uint8Array {
  const { via: _via, ...principal } = by ?? {}
  const body = Buffer.from(JSON.stringify({ args, ...(by !== undefined && { by: principal }) }))
  if (body.length <= MAX_ARGUMENT_BYTES) return body
  throw new AgentprotoError('payload_too_large', 'The call is too large for another host', {
    expected: `at most ${MAX_ARGUMENT_BYTES} bytes`,
    given: `${body.length} bytes`,
  })
}

const lost = (host: string): AgentprotoError =>
  unreachable(host, 'The host was restarted or forgot the call, so that it is not known whether it ran')
const cancelled = (): AgentprotoError => new AgentprotoError('cancelled', ERRORS.cancelled.title)
const NOTHING = new Uint8Array()
