import { AgentprotoError, BOUNDS, isAgentprotoError, isWithinDepth, parseWire } from '@agentproto/contracts'
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

const UTF8 = new TextDecoder('utf-8', { fatal: true })
const JSON_TYPE = /^application\/json\s*(?:;|$)/i

async function read(request: Request, hasLength: boolean): Promise<string> {
  try {
    // With a length the server hands over no more than it says; without one we count.
    return hasLength ? wholeText(await request.arrayBuffer()) : await countedText(request.body)
  } catch (thrown) {
    if (isAgentprotoError(thrown)) throw thrown
    throw new AgentprotoError('cancelled', 'The body did not arrive whole', { cause: thrown })
  }
}

/** In one piece, and refused where it is not UTF-8: what was replaced would not be what was sent. */
function wholeText(bytes: ArrayBuffer): string {
  refuseTooLarge(bytes.byteLength)
  return decoded(() => UTF8.decode(bytes))
}

function decoded(decode: () => string): string {
  try {
    return decode()
  } catch (cause) {
    throw new AgentprotoError('invalid_json', 'The body is not JSON', {
      expected: 'UTF-8',
      given: 'other bytes',
      cause,
    })
  }
}

async function countedText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let bytes = 0
  let text = ''
  // Leaving the loop by a throw cancels the stream.
  for await (const chunk of body) {
    refuseTooLarge((bytes += chunk.byteLength))
    text += decoded(() => decoder.decode(chunk, { stream: true }))
  }
  return text + decoded(() => decoder.decode())
}

function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    const given = thrown instanceof Error ? thrown.message : undefined
    throw new AgentprotoError('invalid_json', 'The body is not JSON', {
      expected: 'one JSON object',
      given,
      cause: thrown,
    })
  }
  // What is shorter has no room for so many.
  if (text.length > BOUNDS.jsonDepth && !isWithinDepth(value, BOUNDS.jsonDepth)) throw refusedDepth()
  return value
}

const refusedDepth = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'The body is nested too deep', {
    expected: `at most ${BOUNDS.jsonDepth} levels`,
  })

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
