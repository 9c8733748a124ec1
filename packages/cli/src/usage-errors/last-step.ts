import { AgentprotoError, type ErrorCode, isAgentprotoError } from '@agentproto/contracts'
import type { Command } from 'commander'
import { commandLine } from './command-line.js'
import { pathOf } from './usage-problem.js'

/**
 * The same failure, ending with a command to run next. The error's own hint counts when it names one: its `<id>` is then
 * the session of the command. Else it is a step for its code, or the help of the command.
 */
export function withLastStep(command: Command, thrown: unknown): unknown {
  if (!isAgentprotoError(thrown) || !isCallers(thrown)) return thrown
  const named = withSession(command, thrown)
  if (NAMES_A_STEP.test(named.message)) return named
  const step = STEPS[thrown.code]?.(callOf(command)) ?? help(command)
  const error = new AgentprotoError(thrown.code, thrown.message, { ...thrown.parts, hint: step, cause: thrown })
  error.message = `${thrown.message.replace(/[\s.]+$/, '')}. ${step}.`
  return error
}

/** Whether the caller can do something about it; what an agent or the machine has done has no command. */
function isCallers({ code, row }: AgentprotoError): boolean {
  const isOfCall = (row.status >= 400 && row.status < 500) || code === 'not_supported'
  return isOfCall && !NOT_THE_CALLERS.has(code)
}

const NOT_THE_CALLERS: ReadonlySet<ErrorCode> = new Set([
  'cancelled',
  'unauthorized',
  'permission_denied',
  'hook_stopped',
])

const NAMES_A_STEP = /\bagentproto [a-z]|\bunset [A-Z]/

interface Call {
  readonly path: string
  /** The first argument, as it can be typed again. */
  readonly first: string
}

function callOf(command: Command): Call {
  const { args } = command
  return { path: pathOf(command).join(' '), first: commandLine(args.slice(0, 1)).replace('agentproto ', '') }
}

function withSession(command: Command, error: AgentprotoError): AgentprotoError {
  const isOfSession = command.registeredArguments[0]?.name() === 'id'
  const { hint } = error.parts
  if (!isOfSession || hint?.includes('<id>') !== true) return error
  const { first } = callOf(command)
  const replaced = new AgentprotoError(error.code, error.message, { ...error.parts, hint: hint.replace('<id>', first) })
  replaced.message = error.message.replace('<id>', first)
  return replaced
}

const help = (command: Command): string => `See its use with: ${['agentproto', ...pathOf(command), '--help'].join(' ')}`

const OF_SESSION = ({ path, first }: Call): string | undefined =>
  path.startsWith('sessions ') && path !== 'sessions start'
    ? `See the session with: agentproto sessions show ${first}`
    : undefined

const WITHOUT_WORKTREE = ({ path, first }: Call): string | undefined =>
  path === 'sessions start' ? `Start it without a worktree: agentproto sessions start ${first}` : undefined

const OF_AGENT = ({ path, first }: Call): string =>
  path === 'sessions config'
    ? `See what it offers with: agentproto sessions config ${first}`
    : `See its modes and options with: agentproto adapters show ${first}`

/** What to run next, where the error itself names nothing. */
const STEPS: Readonly<Partial<Record<ErrorCode, (call: Call) => string | undefined>>> = {
  request_not_found: OF_SESSION,
  request_resolved: OF_SESSION,
  session_live: OF_SESSION,
  session_starting: OF_SESSION,
  turn_not_found: OF_SESSION,
  checkpoint_not_found: ({ first }) => `See the changes since the start with: agentproto sessions diff ${first}`,
  not_supported: OF_SESSION,
  turn_in_progress: ({ first }) => `Wait for it with: agentproto sessions wait ${first}`,
  folder_in_use: () => 'See all sessions with: agentproto sessions',
  label_in_use: () => 'See all sessions with: agentproto sessions',
  repository_invalid: WITHOUT_WORKTREE,
  branch_invalid: WITHOUT_WORKTREE,
  git_unavailable: WITHOUT_WORKTREE,
  mode_unknown: OF_AGENT,
  option_invalid: OF_AGENT,
  secret_not_found: () => 'List them with: agentproto secrets list',
  token_not_found: () => 'List them with: agentproto token list',
}
