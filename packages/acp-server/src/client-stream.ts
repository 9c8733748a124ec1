import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { LineSplitter, MAX_LINE_BYTES } from '@agentproto/subprocess'
import type { AcpServerOptions } from './acp-host.js'

/** The connection as messages. All output goes through it, so that what must follow an answer follows it. */
export class ClientStream {
  readonly stream: Stream
  readonly #write: AcpServerOptions['write']
  readonly #after = new Map<unknown, () => void>()

  constructor({ input, write }: Pick<AcpServerOptions, 'input' | 'write'>) {
    this.#write = write
    const messages = messagesOf(input, (message) => this.send(message))
    this.stream = {
      readable: new ReadableStream<AnyMessage>({
        async pull(controller) {
          const { done, value } = await messages.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        async cancel() {
          await messages.return(undefined)
        },
      }),
      writable: new WritableStream<AnyMessage>({
        write: async (message) => {
          await this.send(message)
          if (!('method' in message)) this.#answered(message.id)
        },
      }),
    }
  }

  /** Writes one message past the SDK; in order with what it writes. The promise is back-pressure. */
  send(message: object): Promise<void> | undefined {
    return this.#write(JSON.stringify(message)) ?? undefined
  }

  /** Runs after the answer to a request: a client gets a session's id in the answer that opens it. */
  afterAnswer(requestId: unknown, run: () => void): void {
    this.#after.set(requestId, run)
  }

  #answered(id: unknown): void {
    const run = this.#after.get(id)
    this.#after.delete(id)
    run?.()
  }
}

async function* messagesOf(
  input: AsyncIterable<Uint8Array>,
  refuse: (message: object) => Promise<void> | undefined,
): AsyncGenerator<AnyMessage, undefined> {
  const splitter = new LineSplitter(MAX_LINE_BYTES, (bytes) => void refuse(parseError(`a line of ${bytes} bytes`)))
  for await (const chunk of input) {
    for (const line of splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) {
      const message = parse(line)
      if (message !== undefined) yield message
      else if (line.trim() !== '') await refuse(parseError('no JSON'))
    }
  }
  return undefined
}

/** The SDK validates the message. */
function parse(line: string): AnyMessage | undefined {
  try {
    return line.trim() === '' ? undefined : (JSON.parse(line) as AnyMessage)
  } catch {
    return undefined
  }
}

const parseError = (what: string): object => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32700, message: `Parse error: ${what}` },
})
