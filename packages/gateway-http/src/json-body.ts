import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { BOUNDS, isWithinDepth, parseWire } from '@agentproto/contracts/wire'
import type { z } from 'zod'
import type { HttpContext } from './http-deps.js'

/**
 * Reads the JSON body of a request; an empty one parses as `{}`. A body that is too large or of another type is refused
 * before it is read. `hono/body-limit` is not used: it does not cancel an endless body (docs/decisions/http-parts.md).
 * @throws `payload_too_large`, `unsupported_media_type`, `invalid_json`, `invalid_request`, `cancelled`
 */
export async function readBody<S extends z.ZodType>(c: HttpContext, schema: S): Promise<z.output<S>> {
  assertNotEncoded(c)
  const length = c.req.header('content-length')
  if (length !== undefined) assertSize(Number(length))
  const type = c.req.header('content-type')
  if (type !== undefined && length !== '0' && !JSON_TYPE.test(type)) throw notJson(type)
  const text = length === '0' ? '' : await readText(c.req.raw, length !== undefined)
  if (text !== '' && type === undefined) throw notJson('no content-type')
  return parseWire(schema, text === '' ? {} : parseJson(text), 'body')
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

/** @throws `unsupported_media_type` for a compressed body: its bound would not be that of its content */
export function assertNotEncoded(c: HttpContext): void {
  const coding = c.req.header('content-encoding')
  if (coding === undefined || coding === 'identity') return
  throw new AgentprotoError('unsupported_media_type', 'The body must not be encoded', {
    expected: 'no content-encoding',
    given: coding,
  })
}

async function readText(request: Request, hasLength: boolean): Promise<string> {
  // What is not UTF-8 is refused: replaced characters would not be what was sent.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    if (hasLength) {
      const bytes = await request.arrayBuffer()
      assertSize(bytes.byteLength)
      return decoder.decode(bytes)
    }
    let size = 0
    let text = ''
    // Leaving the loop by a throw cancels the stream.
    for await (const chunk of request.body ?? []) {
      assertSize((size += chunk.byteLength))
      text += decoder.decode(chunk, { stream: true })
    }
    return text + decoder.decode()
  } catch (thrown) {
    if (isAgentprotoError(thrown)) throw thrown
    if (thrown instanceof TypeError && isCoded(thrown, 'ERR_ENCODING_INVALID_ENCODED_DATA'))
      throw notJsonText(thrown, 'bytes that are not UTF-8')
    throw new AgentprotoError('cancelled', 'The connection closed before the whole body arrived', { cause: thrown })
  }
}

const isCoded = (thrown: Error, code: string): boolean => 'code' in thrown && thrown.code === code

function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    throw notJsonText(thrown, thrown instanceof Error ? thrown.message : undefined)
  }
  // A shorter text has no room for so many levels.
  if (text.length > BOUNDS.jsonDepth && !isWithinDepth(value, BOUNDS.jsonDepth))
    throw new AgentprotoError('invalid_request', 'The body is nested too deeply', {
      expected: `at most ${BOUNDS.jsonDepth} levels`,
    })
  return value
}

function assertSize(size: number): void {
  if (size <= BOUNDS.bodyBytes) return
  throw new AgentprotoError('payload_too_large', 'The body is too large', {
    expected: `at most ${BOUNDS.bodyBytes} bytes`,
  })
}

const notJsonText = (cause: unknown, given: string | undefined): AgentprotoError =>
  new AgentprotoError('invalid_json', 'The body is not JSON', { expected: 'one JSON object in UTF-8', given, cause })

const notJson = (given: string): AgentprotoError =>
  new AgentprotoError('unsupported_media_type', 'The body must be JSON', {
    expected: 'content-type: application/json',
    given,
  })

/** Headers of every JSON answer. It may hold what an agent printed, so no cache may keep it. */
const JSON_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

export type Headers = Readonly<Record<string, string>>

/**
 * An answer that is already text, or its bytes, JSON unless the headers say otherwise. Plain headers and a string body let the Node
 * server write both at once.
 */
export const textReply = (text: string | Uint8Array<ArrayBuffer>, status = 200, headers?: Headers): Response =>
  new Response(text, { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers } })

/** Whether a caller asks for server-sent events: it names them, and not JSON beside them. */
export function wantsEventStream(c: HttpContext): boolean {
  const accept = c.req.header('accept')
  return accept !== undefined && accept.includes('text/event-stream') && !accept.includes('application/json')
}
