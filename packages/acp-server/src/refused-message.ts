import { RequestError } from '@agentclientprotocol/sdk'
import { type AgentprotoError, defined } from '@agentproto/contracts'
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

export const parseError = (what: string): object => refusal(null, -32_700, `Parse error: ${what}`)

export const invalidMessage = (id: unknown, what: string): object => refusal(id, -32_600, `Invalid request: ${what}`)

/** Refuses a request before the SDK sees it. */
export const refusedRequest = (id: unknown, error: AgentprotoError): object =>
  refusal(id, RequestError.internalError().code, error.message, error.toProblem())

const refusal = (id: unknown, code: number, message: string, data?: object): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...defined({ data }) },
})
