import { LineSplitter, MAX_LINE_BYTES } from '@agentproto/subprocess'
import type { AcpServerOptions } from './acp-host.js'
import type { ClientMessages } from './client-messages.js'
import { parsedMessage, parseError } from './refused-message.js'

/** A client on a pipe: one message a line. */
export function lineMessages({ input, write }: Pick<AcpServerOptions, 'input' | 'write'>): ClientMessages {
  const send = (message: object): Promise<void> | undefined => write(JSON.stringify(message)) ?? undefined
  return { received: messagesOf(input, send), send }
}

async function* messagesOf(
  input: AsyncIterable<Uint8Array>,
  refuse: (message: object) => Promise<void> | undefined,
): AsyncGenerator<unknown, undefined> {
  const splitter = new LineSplitter(MAX_LINE_BYTES, (bytes) => void refuse(parseError(`a line of ${bytes} bytes`)))
  for await (const chunk of input) {
    for (const line of splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) {
      if (line.trim() === '') continue
      const message = parsedMessage(line)
      if ('refusal' in message) await refuse(message.refusal)
      else yield message.value
    }
  }
  return undefined
}
