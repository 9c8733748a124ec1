import { NEW_CONVERSATION, rpcErrorText, startFailure } from '@agentproto/arm-kit'
import {
  AgentprotoError,
  asRecord,
  asString,
  type ErrorCode,
  type Json,
  toAgentprotoError,
} from '@agentproto/contracts'
import type { Launch } from '@agentproto/contracts/agent'
import type { AuthMethod } from './capabilities.js'

const AUTH_REQUIRED = -32000
const METHOD_NOT_FOUND = -32601

interface RpcError {
  readonly code: number
  readonly message: string
}

/** Why a session could not be started. */
export interface StartStep {
  readonly method: string
  readonly authMethods: readonly AuthMethod[]
  /** How the agent was launched; a login in a terminal launches the same program. */
  readonly launch?: Launch | undefined
  /** The error code of a refusal. */
  readonly refused: Extract<ErrorCode, 'handshake_failed' | 'not_resumable'>
}

/** Maps a failed step of the start to an error code. */
export function stepFailure(thrown: unknown, { method, authMethods, refused, launch }: StartStep): AgentprotoError {
  const error = rpcError(thrown)
  if (error?.code === AUTH_REQUIRED) return authRequired(error, authMethods, launch)
  if (error) {
    return new AgentprotoError(refused, `The agent refused ${method}: ${error.message}`, {
      cause: thrown,
      data: { agentCode: error.code },
      ...(refused === 'not_resumable' ? { hint: NEW_CONVERSATION } : {}),
    })
  }
  return startFailure(thrown)
}

/** Maps a failed control request to an error code. */
export function requestFailure(thrown: unknown, method: string): AgentprotoError {
  const error = rpcError(thrown)
  if (!error) return toAgentprotoError(thrown, 'protocol_error')
  const code = error.code === METHOD_NOT_FOUND ? 'not_supported' : 'protocol_error'
  return new AgentprotoError(code, `The agent refused ${method}: ${error.message}`, {
    cause: thrown,
    data: { agentCode: error.code },
  })
}

function authRequired(error: RpcError, methods: readonly AuthMethod[], launch: Launch | undefined): AgentprotoError {
  const logins = methods.map((method) => (launch ? loginCommand(method, launch) : undefined))
  const ways = methods.map(({ name, description }, index) => {
    const how = logins[index] ?? description
    return how === undefined ? name : `${name} (${how})`
  })
  const login = logins.find((command) => command !== undefined)
  return new AgentprotoError('auth_required', error.message || 'The agent is not logged in', {
    hint: ways.length > 0 ? `Log in to the agent: ${ways.join('; or ')}` : 'Log in with the agent’s own command line.',
    data: { authMethods: methods, agentCode: error.code, ...(login === undefined ? {} : { login }) },
  })
}

/** The command line of a login: the agent's program with the arguments of the login. */
function loginCommand({ terminal }: AuthMethod, { command, args }: Launch): string | undefined {
  if (!terminal) return undefined
  const assignments = Object.entries(terminal.env).map(([name, value]) => `${name}=${quoted(value)}`)
  return [...assignments, ...[command, ...args, ...terminal.args].map(quoted)].join(' ')
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** The error of a JSON-RPC response. */
export function rpcFailure({ code, message, data }: Json): Error {
  return Object.assign(new Error(asString(message) ?? 'no message'), { code, data })
}

function rpcError(thrown: unknown): RpcError | undefined {
  const error = asRecord(thrown)
  const { code } = error
  return typeof code === 'number' ? { code, message: rpcErrorText(error) ?? 'no message' } : undefined
}
