import { asRecord, parseJson } from '@agentproto/contracts'
import { BOUNDS, isWithinDepth } from '@agentproto/contracts/wire'
import { INVALID_REQUEST, isJsonContentType, PARSE_ERROR, readRequestBody } from '@modelcontextprotocol/server'
import { parsed } from './stringified.js'

/** A body that was read, or the answer that refuses it. Requests without a JSON body are left to the handler. */
export type RpcBody = { readonly parsedBody?: unknown } | { readonly refusal: Response }

/** Reads the body of a request once. The SDK would read it twice, and pass on a copy whose caller is not known. */
export async function readRpcBody(request: Request): Promise<RpcBody> {
  if (request.method !== 'POST' || !isJsonContentType(request.headers.get('content-type'))) return {}
  const read = await readRequestBody(request, BOUNDS.bodyBytes).catch(() => undefined)
  if (read === undefined) return refusal(400, PARSE_ERROR, 'The connection closed before the whole body arrived')
  if (read.tooLarge) return refusal(413, INVALID_REQUEST, `The body is larger than ${BOUNDS.bodyBytes} bytes`)
  const body = parseJson(read.text)
  if (body === undefined) return refusal(400, PARSE_ERROR, 'The body is not JSON')
  if (!isWithinDepth(body, BOUNDS.jsonDepth))
    return refusal(400, INVALID_REQUEST, `The body has more than ${BOUNDS.jsonDepth} levels`)
  return { parsedBody: withParsedArguments(body) }
}

const refusal = (status: number, code: number, message: string): RpcBody => ({
  refusal: Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status }),
})

/** Some clients send the arguments of a tool as a JSON string (F72). */
function withParsedArguments(body: unknown): unknown {
  const { params } = asRecord(body)
  const { arguments: given } = asRecord(params)
  if (typeof given !== 'string') return body
  return { ...asRecord(body), params: { ...asRecord(params), arguments: parsed(given) } }
}
