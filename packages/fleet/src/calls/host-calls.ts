import type { Principal } from '@agentproto/contracts'
import type { Reader } from '@agentproto/contracts/wire'
import type { Outcome } from './call-frame.js'
import { type ArgsOf, type ReaderName, readerMethod, type ResultOf, type ValueName, valueMethod } from './methods.js'
import { invalidAnswer } from './operation.js'
import type { CarriedName } from './places.js'
import type { RemoteReader } from './remote-reader.js'

/** For whom a call is made, and until when. */
export interface CallOptions {
  readonly by?: Principal
  readonly signal?: AbortSignal | undefined
  /** For a method that reads a text. */
  readonly text?: AsyncIterable<string>
}

export interface HostCall extends CallOptions {
  readonly name: CarriedName
  readonly args: readonly unknown[]
}

interface Line {
  readonly run: (call: HostCall) => Promise<Outcome>
  readonly open: (call: HostCall) => Promise<RemoteReader>
}

/** The methods of one other host; what it answers is checked here. */
export class HostCalls {
  readonly #host: string
  readonly #line: Line

  constructor(host: string, line: Line) {
    this.#host = host
    this.#line = line
  }

  /** Calls a method that answers once. */
  async value<K extends ValueName>(name: K, args: ArgsOf<K>, options: CallOptions = {}): Promise<ResultOf<K>> {
    const outcome = await this.#line.run({ name, args, ...options })
    const value = 'value' in outcome ? outcome.value : undefined
    if (valueMethod(name).result(value)) return value
    throw invalidAnswer(this.#host)
  }

  /** Opens a reader at the host, which is closed there too when this host is not heard from. */
  async reader<K extends ReaderName>(name: K, args: ArgsOf<K>): Promise<Reader<ResultOf<K>>> {
    const { item } = readerMethod(name)
    const host = this.#host
    const reader = await this.#line.open({ name, args })
    return {
      async next(signal) {
        const outcome = await reader.next(signal)
        if (outcome === undefined) return undefined
        const value = 'value' in outcome ? outcome.value : undefined
        if (item(value)) return value
        reader.close()
        throw invalidAnswer(host)
      },
      close: () => reader.close(),
    }
  }

  /** An export, piece by piece. */
  async texts(args: ArgsOf<'archive.export'>): Promise<AsyncIterable<string>> {
    const reader = await this.#line.open({ name: 'archive.export', args })
    return this.#pieces(reader, (outcome) => ('text' in outcome ? outcome.text : undefined))
  }

  /** A patch, piece by piece. */
  async bytes(args: ArgsOf<'changes.diff'>, options: CallOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const reader = await this.#line.open({ name: 'changes.diff', args, ...options })
    return this.#pieces(reader, (outcome) => ('base64' in outcome ? Buffer.from(outcome.base64, 'base64') : undefined))
  }

  async *#pieces<T>(reader: RemoteReader, pieceOf: (outcome: Outcome) => T | undefined): AsyncGenerator<T> {
    try {
      for (;;) {
        const outcome = await reader.next()
        if (outcome === undefined) return
        const piece = pieceOf(outcome)
        if (piece === undefined) throw invalidAnswer(this.#host)
        yield piece
      }
    } finally {
      reader.close()
    }
  }
}
