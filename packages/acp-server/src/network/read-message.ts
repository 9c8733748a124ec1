import { AgentprotoError } from '@agentproto/contracts'
import { parsedMessage } from '../refused-message.js'
import { tracedMessage } from './traced-message.js'

/** The message of a POST, with a request that still has it; or the answer that refuses it. */
export type ReadMessage = { readonly value: unknown; readonly request: Request } | { readonly refusal: Response }

/** Reads a body once, within a bound. @throws `payload_too_large` */
export async function readMessage(request: Request, maxBytes: number): Promise<ReadMessage> {
  const text = await readText(request, maxBytes)
  if (text === undefined)
    return { refusal: new Response('The connection closed before the whole body arrived', { status: 400 }) }
  const message = parsedMessage(text)
  if ('refusal' in message) return { refusal: Response.json(message.refusal, { status: 400 }) }
  const { url, method, headers, signal } = request
  const value = tracedMessage(message.value, headers)
  const body = value === message.value ? text : JSON.stringify(value)
  return { value, request: new Request(url, { method, headers, body, signal }) }
}

async function readText({ body }: Request, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
  } catch (thrown) {
    if (thrown instanceof AgentprotoError) throw thrown
    return undefined
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

const tooLarge = (maxBytes: number): AgentprotoError =>
  new AgentprotoError('payload_too_large', 'The message is too large', {
    expected: `at most ${maxBytes} bytes`,
  })
