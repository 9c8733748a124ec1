import { asRecord, asString, defined } from './json.js'

/** HTTP problems, MCP results and CLI exit codes come from this table; a test compares it with `docs/errors.md`. */

/** What one error code means on each surface. */
export interface ErrorRow {
  /** Short, stable, human title (RFC 9457 `title`). */
  readonly title: string
  /** HTTP status of the problem document. */
  readonly status: number
  /** How an MCP tool reports it: an invalid argument, or a result with `isError`. */
  readonly mcp: 'invalid-params' | 'tool-error'
  /** Exit code of the `agentproto` command line (see {@link EXIT}). */
  readonly exit: number
  /** Whether the same call can succeed later without a change. */
  readonly retryable: boolean
}

/** Exit codes of the command line. */
export const EXIT = { ok: 0, failed: 1, usage: 2, timeout: 3, empty: 4, denied: 5, interrupted: 130 } as const

const row = (
  status: number,
  title: string,
  { exit = EXIT.failed, mcp = 'tool-error', retryable = false }: Partial<Omit<ErrorRow, 'title' | 'status'>> = {},
): ErrorRow => ({ title, status, mcp, exit, retryable })

const usage = { exit: EXIT.usage, mcp: 'invalid-params' } as const
const absent = { exit: EXIT.empty, mcp: 'invalid-params' } as const

/** Every code that agentproto reports, with its meaning on each surface. */
export const ERRORS = {
  // The request itself.
  invalid_request: row(400, 'The request is invalid', usage),
  invalid_json: row(400, 'The body is not JSON', usage),
  unauthorized: row(401, 'A valid token is required', { exit: EXIT.denied }),
  forbidden: row(403, 'The token does not allow this', { exit: EXIT.denied }),
  host_not_allowed: row(403, 'The Host header does not name this gateway', { exit: EXIT.denied }),
  origin_not_allowed: row(403, 'The Origin is not allowed', { exit: EXIT.denied }),
  route_not_found: row(404, 'Route not found', usage),
  method_not_allowed: row(405, 'The route does not support this method', usage),
  payload_too_large: row(413, 'The body is too large', usage),
  unsupported_media_type: row(415, 'The body must be application/json', usage),

  // What a request refers to.
  session_not_found: row(404, 'Session not found', absent),
  turn_not_found: row(404, 'Turn not found', absent),
  request_not_found: row(404, 'Request not found', absent),
  rule_not_found: row(404, 'Rule not found', absent),
  adapter_not_found: row(404, 'Adapter not found', usage),
  icon_not_found: row(404, 'The adapter has no icon', absent),
  adapter_exists: row(409, 'Another adapter has this slug', usage),
  adapter_edited: row(409, 'The manifest of the adapter was edited', usage),
  workspace_not_found: row(404, 'Workspace not found', usage),
  token_not_found: row(404, 'Token not found', absent),
  token_exists: row(409, 'A token with this name exists', usage),
  label_in_use: row(409, 'A live session has this label', usage),
  workspace_exists: row(409, 'A workspace with this slug exists', usage),
  workspace_invalid: row(422, 'The workspace is invalid', usage),
  cwd_invalid: row(422, 'The working directory is invalid', usage),
  cwd_not_allowed: row(403, 'The caller may not use this working directory', { exit: EXIT.denied }),
  path_invalid: row(422, 'The path is invalid', usage),

  host_not_found: row(404, 'Host not found', absent),

  // Manifests and their compilation.
  manifest_invalid: row(422, 'The manifest is invalid', usage),
  protocol_unsupported: row(422, 'The protocol of the manifest is not supported', usage),
  mode_unknown: row(422, 'The adapter has no such mode', usage),
  option_invalid: row(422, 'The adapter does not accept this option', usage),
  continuation_unsupported: row(422, 'The adapter does not support this continuation', usage),
  sandbox_unavailable: row(422, 'The sandbox cannot be applied here'),
  sandbox_read_only: row(422, 'The sandbox does not allow commands'),

  // Sessions.
  no_adapter_installed: row(501, 'No adapter is installed'),
  agent_not_installed: row(424, 'The agent is not installed'),
  auth_required: row(424, 'The agent is not logged in', { exit: EXIT.denied }),
  setup_required: row(424, 'The agent is not set up'),
  endpoint_not_allowed: row(403, 'The address of the agent is not allowed', { exit: EXIT.denied }),
  turn_in_progress: row(409, 'A turn is in progress', { retryable: true }),
  queue_full: row(429, 'The prompt queue of the session is full', { retryable: true }),
  token_limit_reached: row(429, 'The maximum number of tokens is reached'),
  session_limit_reached: row(429, 'The maximum number of live sessions is reached', { retryable: true }),
  stream_limit_reached: row(429, 'The maximum number of open streams is reached', { retryable: true }),
  request_limit_reached: row(429, 'The maximum number of open requests of a caller is reached', { retryable: true }),
  session_ended: row(409, 'The session has ended'),
  budget_exceeded: row(409, 'The budget is used up'),
  session_starting: row(409, 'The session is still starting', { retryable: true }),
  session_live: row(409, 'The session is live'),
  request_resolved: row(409, 'The request was already answered'),
  request_interrupted: row(410, 'The request ended with its gateway'),
  rule_limit_reached: row(409, 'The maximum number of rules is reached'),
  not_supported: row(501, 'The agent does not support this'),
  not_resumable: row(409, 'The session cannot be resumed'),
  idempotency_conflict: row(409, 'The idempotency key was used for a different request', usage),
  hook_stopped: row(403, 'A hook of the gateway denied the request', { exit: EXIT.denied }),
  permission_denied: row(403, 'The permission was denied', { exit: EXIT.denied }),
  empty_turn: row(502, 'The turn produced nothing', { exit: EXIT.empty }),

  // Many hosts.
  host_unreachable: row(503, 'The host of the session cannot be reached', { retryable: true }),
  placement_refused: row(409, 'No host can take the session'),

  // Agents that start agents.
  delegation_denied: row(403, 'The session is not allowed to do this', { exit: EXIT.denied }),
  cwd_outside_parent: row(403, 'The folder is outside the folders of the parent session', { exit: EXIT.denied }),
  max_depth_exceeded: row(403, 'The session may not start child sessions', { exit: EXIT.denied }),
  child_quota_exceeded: row(429, 'The maximum number of child sessions is reached', { retryable: true }),

  // Provisioning.
  install_failed: row(502, 'The agent could not be installed'),
  version_mismatch: row(424, 'The installed version of the agent is not supported'),
  setup_failed: row(502, 'A setup step of the agent failed'),
  provisioning_busy: row(409, 'The agent is being installed or set up', { retryable: true }),
  registry_unavailable: row(503, 'The registry of agents cannot be read now', { retryable: true }),
  registry_invalid: row(502, 'The registry of agents cannot be used'),
  secret_not_found: row(404, 'Secret not found', absent),

  // What sessions change, and their worktrees.
  checkpoint_not_found: row(404, 'Checkpoint not found', absent),
  folder_in_use: row(409, 'The folder is in use', { retryable: true }),
  checkpoint_failed: row(409, 'The state of the folder cannot be recorded'),
  git_unavailable: row(424, 'git is missing or too old'),
  git_failed: row(500, 'git failed'),
  repository_invalid: row(422, 'The repository cannot be used', usage),
  branch_invalid: row(422, 'The branch cannot be used', usage),
  worktree_unsaved: row(409, 'The worktree has work that would be lost'),
  worktree_setup_failed: row(422, 'The setup of the worktree failed'),
  merge_conflict: row(409, 'The merge has conflicts'),
  checkout_dirty: row(409, 'The checkout of the branch cannot be updated'),

  // Agents.
  spawn_failed: row(502, 'The agent could not be started'),
  handshake_failed: row(502, 'The agent did not complete the handshake'),
  protocol_error: row(502, 'The agent violated its protocol'),
  prompt_failed: row(502, 'The agent could not process the prompt'),
  agent_exited: row(502, 'The agent exited unexpectedly'),
  termination_failed: row(500, 'Processes of the agent could not be terminated'),
  timeout: row(504, 'The operation timed out', { exit: EXIT.timeout, retryable: true }),
  cancelled: row(499, 'The operation was cancelled', { exit: EXIT.interrupted }),

  // The host.
  storage_failed: row(507, 'Writing to the store failed', { retryable: true }),
  storage_corrupt: row(500, 'Stored data is unreadable'),
  home_newer: row(409, 'The home was written by a newer agentproto'),
  home_invalid: row(500, 'The format of the home is not known'),
  home_upgrade_failed: row(507, 'The home could not be upgraded', { retryable: true }),
  listen_failed: row(500, 'The gateway cannot listen on this address', usage),
  daemon_not_running: row(503, 'No gateway is running', { retryable: true }),
  daemon_running: row(409, 'A gateway is already running for this home'),
  keeper_unavailable: row(503, 'The keeper of the agents cannot be reached', { retryable: true }),
  cluster_unavailable: row(503, 'The NATS servers of the fleet cannot be used now', { retryable: true }),
  cluster_unsupported: row(501, 'The NATS servers lack what a fleet needs'),
  host_name_in_use: row(409, 'Another gateway has this host name', usage),
  not_adoptable: row(409, 'The agent cannot be taken over'),
  shutting_down: row(503, 'The gateway is shutting down', { retryable: true }),
  internal: row(500, 'Internal error'),
} as const satisfies Record<string, ErrorRow>

/** A code of the error table. */
export type ErrorCode = keyof typeof ERRORS

/** The four parts of a message, and data for programs. */
export interface ErrorParts {
  /** What was expected, as a noun phrase. */
  readonly expected?: string
  /** What was given; cut to 200 characters. */
  readonly given?: unknown
  /** What to do next, as an imperative sentence; often a command line. */
  readonly hint?: string
  /** Further machine-readable members of the problem document. Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** RFC 9457 problem document, `application/problem+json`. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ErrorCode
  readonly detail: string
  readonly retryable: boolean
  readonly expected?: string
  readonly given?: string
  readonly hint?: string
  readonly [member: string]: unknown
}

const BRAND = Symbol.for('agentproto.error')

/**
 * The error that every package throws. Compare `code`, or use {@link isAgentprotoError}: `instanceof`
 * fails when an application holds two copies of this package.
 */
export class AgentprotoError extends Error {
  readonly code: ErrorCode
  readonly parts: ErrorParts

  constructor(code: ErrorCode, what: string, parts: ErrorParts = {}) {
    super(sentence(what, parts), parts.cause === undefined ? undefined : { cause: parts.cause })
    this.name = 'AgentprotoError'
    this.code = code
    this.parts = parts
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** The same error with more members in its problem document. */
  withData(data: Readonly<Record<string, unknown>>): AgentprotoError {
    const error = new AgentprotoError(this.code, '', { ...this.parts, data: { ...this.parts.data, ...data } })
    error.message = this.message
    return error
  }

  get row(): ErrorRow {
    return ERRORS[this.code]
  }

  /** The problem document of this error, without stack and cause. */
  toProblem(): Problem {
    const { expected, given, hint, data } = this.parts
    const { title, status, retryable } = this.row
    const type = `urn:agentproto:error:${this.code}`
    const document = { ...data, type, title, status, code: this.code, detail: this.message, retryable }
    return { ...document, ...defined({ expected, given: given === undefined ? undefined : cut(given), hint }) }
  }
}

/** Whether a value is an {@link AgentprotoError}, also one made by another copy of this package. */
export function isAgentprotoError(value: unknown): value is AgentprotoError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true
}

/** Converts anything that was thrown: keeps our errors, wraps others as `fallback` with their cause. */
export function toAgentprotoError(thrown: unknown, fallback: ErrorCode = 'internal'): AgentprotoError {
  if (isAgentprotoError(thrown)) return thrown
  const what = thrown instanceof Error ? thrown.message : String(thrown)
  return new AgentprotoError(fallback, what || ERRORS[fallback].title, { cause: thrown })
}

/** Converts a received problem document back to its error; an unknown shape becomes `internal`. */
export function fromProblem(problem: unknown): AgentprotoError {
  const { type: _type, title: _title, status: _status, retryable: _retryable, ...members } = asRecord(problem)
  const { code, detail, expected, given, hint, instance: _instance, ...data } = members
  const parts = defined({ expected: asString(expected), given: asString(given), hint: asString(hint) })
  const error = new AgentprotoError(isCode(code) ? code : 'internal', '', { ...parts, data })
  error.message = asString(detail) ?? 'The answer of the gateway is not a problem document.'
  return error
}

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERRORS, code)

function sentence(what: string, { expected, given, hint }: ErrorParts): string {
  const parts = [stop(what)]
  if (expected !== undefined) parts.push(`Expected ${stop(expected)}`)
  if (given !== undefined) parts.push(`Given: ${stop(cut(given))}`)
  if (hint !== undefined) parts.push(stop(hint))
  return parts.filter(Boolean).join(' ')
}

const stop = (text: string): string => (text === '' || /[.!?:]$/.test(text) ? text : `${text}.`)

function cut(given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? String(given))
  return text.length > 200 ? `${text.slice(0, 197)}...` : text
}
