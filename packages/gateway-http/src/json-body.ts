import { AgentprotoError, BOUNDS, isAgentprotoError, parseWire } from '@agentproto/contracts'
import type { z } from 'zod'
import type { HttpContext } from './http-deps.js'

/**
 * Reads the JSON body of a request; one that has none parses as `{}` where the schema takes that.
 * @throws `payload_too_large`, `unsupported_media_type`, `invalid_json`, `invalid_request`
 */
export async function readBody<S extends z.ZodType>(c: HttpContext, schema: S): Promise<z.output<S>> {
  const text = await bodyText(c.req.raw)
  return parseWire(schema, text === '' ? {} : parseJson(text), 'body')
}

async function bodyText(request: Request): Promise<string> {
  const length = request.headers.get('content-length')
  if (length === '0') return ''
  if (length !== null) refuseTooLarge(Number(length))
  const type = request.headers.get('content-type')
  if (type !== null && !JSON_TYPE.test(type)) throw refusedType(type)
  const text = await read(request, length !== null)
  if (text !== '' && type === null) throw refusedType('no content-type')
  return text
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

async function read(request: Request, hasLength: boolean): Promise<string> {
  try {
    // With a length the server hands over no more than it says; without one we count.
    const text = hasLength ? await request.text() : await countedText(request.body)
    refuseTooLarge(text.length)
    return text
  } catch (thrown) {
    if (isAgentprotoError(thrown)) throw thrown
    throw new AgentprotoError('cancelled', 'The body did not arrive whole', { cause: thrown })
  }
}

async function countedText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ''
  // Leaving the loop by a throw cancels the stream.
  for await (const chunk of body) {
    refuseTooLarge((bytes += chunk.byteLength))
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    const given = thrown instanceof Error ? thrown.message : undefined
    throw new AgentprotoError('invalid_json', 'The body is not JSON', {
      expected: 'one JSON object',
      given,
      cause: thrown,
    })
  }
}

function refuseTooLarge(size: number): void {
  if (size <= BOUNDS.bodyBytes) return
  throw new AgentprotoError('payload_too_large', 'The body is too large', {
    expected: `at most ${BOUNDS.bodyBytes} bytes`,
  })
}

const refusedType = (given: string): AgentprotoError =>
  new AgentprotoError('unsupported_media_type', 'The body must be JSON', {
    expected: 'content-type: application/json',
    given,
  })
