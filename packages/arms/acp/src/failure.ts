import { AgentprotoError, isAgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import type { ErrorCode } from '@agentproto/contracts'
import type { AuthMethod } from './capabilities.js'
import { record, text } from './json.js'

const AUTH_REQUIRED = -32000
const METHOD_NOT_FOUND = -32601

/** What an agent answered instead of a result. */
interface RpcError {
  readonly code: number
  readonly message: string
}

/** Why a session could not be started. */
export interface StartStep {
  readonly method: string
  readonly authMethods: readonly AuthMethod[]
  /** What it means that the agent refuses. */
  readonly refused: Extract<ErrorCode, 'handshake_failed' | 'not_resumable'>
}

/** Says in our codes why a step of the start failed. */
export function startFailure(thrown: unknown, { method, authMethods, refused }: StartStep): AgentprotoError {
  const error = rpcError(thrown)
  if (error?.code === AUTH_REQUIRED) return authRequired(error, authMethods)
  if (error) {
    return new AgentprotoError(refused, `The agent refused ${method}: ${error.message}`, {
      cause: thrown,
      data: { agentCode: error.code },
      ...(refused === 'not_resumable' ? { hint: 'Start a new session.' } : {}),
    })
  }
  // An agent that ended, ended before it was ready.
  if (isAgentprotoError(thrown) && thrown.code === 'agent_exited') {
    return new AgentprotoError('handshake_failed', thrown.message, { ...thrown.parts, cause: thrown })
  }
  return toAgentprotoError(thrown, 'handshake_failed')
}

/** Says in our codes why a control request failed. */
export function requestFailure(thrown: unknown, method: string): AgentprotoError {
  const error = rpcError(thrown)
  if (!error) return toAgentprotoError(thrown, 'protocol_error')
  const code = error.code === METHOD_NOT_FOUND ? 'not_supported' : 'protocol_error'
  return new AgentprotoError(code, `The agent refused ${method}: ${error.message}`, {
    cause: thrown,
    data: { agentCode: error.code },
  })
}

function authRequired(error: RpcError, methods: readonly AuthMethod[]): AgentprotoError {
  const ways = methods.map(({ name, description }) => (description === undefined ? name : `${name} (${description})`))
  return new AgentprotoError('auth_required', error.message || 'The agent is not logged in', {
    hint: ways.length > 0 ? `Log in to the agent: ${ways.join('; or ')}` : 'Log in with the agent’s own command line.',
    data: { authMethods: methods, agentCode: error.code },
  })
}

function rpcError(thrown: unknown): RpcError | undefined {
  const { code, message } = record(thrown)
  return typeof code === 'number' ? { code, message: text(message) ?? 'no message' } : undefined
}
