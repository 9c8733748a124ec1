import { type ErrorResponse, RequestError } from '@agentclientprotocol/sdk'
import { type AgentprotoError, asRecord } from '@agentproto/contracts'
import { BOUNDS, isWithinDepth } from '@agentproto/contracts/wire'

/** A message of a client that was parsed, or the answer that refuses it. */
export type ParsedMessage = { readonly value: unknown } | { readonly refusal: object }

/** Parses one message. What is nested too deeply parses, but could not be repeated in an answer. */
export function parsedMessage(text: string): ParsedMessage {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { refusal: parseError('no JSON') }
  }
  if (isWithinDepth(value, BOUNDS.jsonDepth)) return { value }
  return { refusal: invalidMessage(null, `more than ${BOUNDS.jsonDepth} levels`) }
}

/** Whether it is the request with which a connection begins. */
export const isInitialize = (message: unknown): boolean => {
  const { jsonrpc, id, method } = asRecord(message)
  return jsonrpc === '2.0' && method === 'initialize' && (typeof id === 'string' || typeof id === 'number')
}

export const parseError = (what: string): object => refusal(null, { code: -32_700, message: `Parse error: ${what}` })

export const invalidMessage = (id: unknown, what: string): object =>
  refusal(id, { code: -32_600, message: `Invalid request: ${what}` })

/** Refuses a request before the SDK sees it. */
export const refusedRequest = (id: unknown, error: AgentprotoError): object =>
  refusal(id, { code: RequestError.internalError().code, message: error.message, data: error.toProblem() })

const refusal = (id: unknown, error: ErrorResponse): object => ({ jsonrpc: '2.0', id, error })
