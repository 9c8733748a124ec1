import type { PermissionMode, PromptContextPart, Session } from '@agentproto/contracts'
import { endOfTime } from '../lifecycle/resume.js'
import type { SessionState } from './state.js'

export interface StandingContext extends PromptContextPart {
  readonly kind: 'envelope' | 'instructions'
}

/** What the agent has to know for a whole conversation: the envelope first, then the instructions of the spawn. */
export function standingContextOf(state: Pick<SessionState, 'session' | 'spawn' | 'config'>): StandingContext[] {
  const { envelope, instructions } = state.spawn
  return [
    ...(envelope === true ? [{ kind: 'envelope' as const, text: envelopeText(state) }] : []),
    ...(instructions === undefined ? [] : [{ kind: 'instructions' as const, text: instructions }]),
  ]
}

/**
 * Describes a session to its agent: id, workspace, limits and delegation. It has no secret, nothing of another session, and
 * no text that somebody could choose freely: a folder is quoted, so that its name begins no line.
 */
function envelopeText({ session, spawn, config }: Pick<SessionState, 'session' | 'spawn' | 'config'>): string {
  const { id, adapterSlug, workspaceSlug, cwd, additionalDirectories = [], permissionMode, delegation } = session
  const { maxTurns } = spawn.policy ?? {}
  const until = endOfTime(session, config.maxDurationMs)
  const lines = [
    `Session: ${id}, with the adapter ${adapterSlug}`,
    `Started by: ${session.type === 'spawned' ? 'the agent of another session' : 'a person or a program'}`,
    `Workspace: ${workspaceSlug}, in the folder ${JSON.stringify(cwd)}`,
    ...additionalDirectories.map((folder) => `Further folder: ${JSON.stringify(folder)}`),
    `Permission mode: ${permissionMode} (${PERMISSIONS[permissionMode]})`,
    ...(until === Infinity ? [] : [`Time: the session ends at ${new Date(until).toISOString()}`]),
    ...(maxTurns === undefined ? [] : [`Turns: at most ${maxTurns}`]),
    `Silence: a turn without any output is cancelled after ${minutes(config.inactivityMs)}, while a tool runs after ${minutes(config.toolBudgetMs)}`,
    `Delegation: ${delegationText(delegation)}`,
  ]
  return [FIRST_LINE, ...PURPOSE, ...lines.map((line) => `- ${line}`), LAST_LINE].join('\n')
}

const FIRST_LINE = '[agentproto session]'
const LAST_LINE = '[end of agentproto session]'

const PURPOSE = [
  'You run in a session of agentproto, a gateway. It starts and ends you, sends you the prompts, answers your permission',
  'requests or passes them to a person, and records what you do. These are the facts when you were started:',
]

const PERMISSIONS: Readonly<Record<PermissionMode, string>> = {
  'deny-all': 'every request is denied',
  ask: 'a person answers each request',
  'approve-reads': 'reading is allowed, a person answers other requests',
  'approve-all': 'every request is allowed that no rule denies',
}

function delegationText(grant: Session['delegation']): string {
  if (grant === undefined || grant.maxDepth < 1) return 'none, you cannot start sessions'
  const { maxChildren, maxDepth, ttlSeconds, adapters } = grant
  return (
    `you can start sessions of ${adapters.join(', ')} with the tool start_agent_session: at most ${maxChildren} at a time, ` +
    `each for at most ${ttlSeconds} s, ${maxDepth} ${maxDepth === 1 ? 'generation' : 'generations'} deep`
  )
}

const minutes = (ms: number): string => `${Math.round(ms / 6_000) / 10} min`
