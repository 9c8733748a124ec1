import { BOUNDS, isWithinDepth } from '@agentproto/contracts'
import { INVALID_REQUEST, isJsonContentType, PARSE_ERROR, readRequestBody } from '@modelcontextprotocol/server'
import { parsed } from './stringified.js'

/** A body that was read, or the answer that refuses it. A request that has none to read is left to the handler. */
export type RpcBody = { readonly parsedBody?: unknown } | { readonly refusal: Response }

/**
 * Reads the body of a request once. The SDK would copy the whole request to read it twice, and hand the copy
 * on, of which nobody knows who sent it.
 */
export async function readRpcBody(request: Request): Promise<RpcBody> {
  if (request.method !== 'POST' || !isJsonContentType(request.headers.get('content-type'))) return {}
  const read = await readRequestBody(request, BOUNDS.bodyBytes).catch(() => undefined)
  if (read === undefined) return refusal(400, PARSE_ERROR, 'The body did not arrive whole')
  if (read.tooLarge) return refusal(413, INVALID_REQUEST, `The body is larger than ${BOUNDS.bodyBytes} bytes`)
  const body = parsedJson(read.text)
  if (body === undefined) return refusal(400, PARSE_ERROR, 'The body is not JSON')
  if (!isWithinDepth(body, BOUNDS.jsonDepth))
    return refusal(400, INVALID_REQUEST, `The body has more than ${BOUNDS.jsonDepth} levels`)
  return { parsedBody: withParsedArguments(body) }
}

/** Undefined for what is no JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const refusal = (status: number, code: number, message: string): RpcBody => ({
  refusal: Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status }),
})

/** Some clients send the arguments of a tool as one text of JSON (F72). */
function withParsedArguments(body: unknown): unknown {
  const { params } = objectOf(body)
  const { arguments: given } = objectOf(params)
  if (typeof given !== 'string') return body
  return { ...objectOf(body), params: { ...objectOf(params), arguments: parsed(given) } }
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
