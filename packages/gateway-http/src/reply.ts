import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'

/** Headers of every JSON answer. It may hold what an agent printed, so no cache may keep it. */
const JSON_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

export type Headers = Readonly<Record<string, string>>

/** A JSON answer. */
export const json = (body: unknown, status = 200, headers?: Headers): Response =>
  textReply(JSON.stringify(body), status, headers)

/** An answer that is already text, JSON unless the headers say otherwise. Plain headers and a string body let the Node server write both at once. */
export const textReply = (text: string, status = 200, headers?: Headers): Response =>
  new Response(text, { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers } })

/** The RFC 9457 problem document of an error. */
export function problem(error: AgentprotoError, headers?: Headers): Response {
  const challenge = error.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}
  return json(error.toProblem(), error.row.status, {
    'content-type': 'application/problem+json',
    ...challenge,
    ...headers,
  })
}

/** Keeps our errors. The message of a foreign one may hold anything, so the caller does not get it. */
export function toOwnError(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) return thrown
  return new AgentprotoError('internal', 'The gateway failed to answer the request', {
    hint: 'See the log of the gateway',
    cause: thrown,
  })
}
