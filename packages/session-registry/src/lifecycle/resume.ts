import { type AgentCapabilities, AgentprotoError, isLive, type Session } from '@agentproto/contracts'
import type {
  AdapterSessionPolicy,
  ContinuationStrategy,
  StartAgentOptions,
  StoredSpawn,
} from '@agentproto/contracts/agent'
import type { ResumeRequest } from '@agentproto/contracts/wire'
import { assertHere } from './moved.js'

/** How an ended session is resumed. Nothing is guessed: a new conversation has to be requested. */

export type How = NonNullable<Session['resumedHow']>

export interface Resumption {
  readonly origin: StartAgentOptions['origin']
  readonly how: How
}

/** @throws `session_live`, `session_ended` for one that was moved away, `continuation_unsupported`, `not_resumable` */
export function resumptionOf(session: Session, given: StoredSpawn, request: ResumeRequest): Resumption {
  assertHere(session)
  assertEnded(session)
  const spawn = isNewHere(session) ? { ...given, continuation: 'transcript' as const } : given
  assertContinuation(spawn.policy, request.continuation)
  const { maxTurns = Infinity } = spawn.policy ?? {}
  if (sentTurns(session) >= maxTurns) throw exhausted(maxTurns)
  if (request.fresh === true) return { origin: { how: 'new' }, how: 'fresh' }
  const { agentSessionId } = session
  const how = openWays(session, spawn, request).find((way) => way === 'transcript' || agentSessionId !== undefined)
  if (how === undefined) throw notResumable(session)
  if (how === 'transcript' || agentSessionId === undefined) return { origin: { how: 'new' }, how }
  return { origin: { how, agentSessionId }, how }
}

function openWays(session: Session, spawn: StoredSpawn, request: ResumeRequest): readonly Way[] {
  const { agent = isNewHere(session) ? FORGETFUL : undefined, resumable } = session
  const isOpen = resumable || request.continuation !== undefined
  return agent !== undefined && isOpen ? waysOf(agent.capabilities, spawn, request) : []
}

/** Whether another host had it, and no agent of this one knows its conversation yet. */
const isNewHere = ({ movedFrom, agentSessionId }: Session): boolean =>
  movedFrom !== undefined && agentSessionId === undefined

const FORGETFUL = { capabilities: { load: false, resume: false } } as const

/** How many turns the agent has had: what `max_turns` limits. */
export const sentTurns = ({ turnCount, unsentTurns = 0 }: Session): number => turnCount - unsentTurns

/** When the session has to end, in milliseconds since the epoch. @param maxDurationMs 0 for no limit */
export function endOfTime({ startedAt, expiresAt }: Session, maxDurationMs: number): number {
  if (expiresAt !== undefined) return Date.parse(expiresAt)
  return maxDurationMs > 0 ? Date.parse(startedAt) + maxDurationMs : Infinity
}

/** Whether the next prompt may resume the session after its end. */
export function isResumable(capabilities: AgentCapabilities, spawn: StoredSpawn): boolean {
  const { policy, continuation } = spawn
  // A caller that chose the transcript accepts that the agent has no memory.
  const outlives = policy?.mode === 'resumable' || continuation === 'transcript'
  return outlives && waysOf(capabilities, spawn).length > 0
}

/** Whether the agent itself remembers: only then can its session hibernate without loss. */
export const remembers = (capabilities: AgentCapabilities, spawn: StoredSpawn): boolean =>
  spawn.policy?.mode === 'resumable' && waysOf(capabilities, spawn).some((way) => way !== 'transcript')

/** @throws `continuation_unsupported` for a strategy outside the manifest's `supported` (AIP-45) */
export function assertContinuation(
  policy: AdapterSessionPolicy | undefined,
  strategy: ContinuationStrategy | undefined,
): void {
  const supported = policy?.continuation ?? ['none']
  if (strategy === undefined || supported.includes(strategy)) return
  throw new AgentprotoError('continuation_unsupported', 'The adapter does not support this continuation', {
    expected: `one of ${supported.join(', ')}`,
    given: strategy,
  })
}

type Way = Exclude<How, 'fresh'>

/** Every session of a host is a pinned one: once its process is gone, every way is allowed. */
const WAYS: Readonly<Record<ContinuationStrategy, readonly Way[]>> = {
  none: [],
  'pinned-session': ['resume', 'load', 'native', 'transcript'],
  'native-resume': ['resume', 'load', 'native'],
  transcript: ['transcript'],
}

/** By strategy, the best first. `resume` does not replay the conversation, so it is preferred to `load`. */
function waysOf(
  { load, resume }: Pick<AgentCapabilities, 'load' | 'resume'>,
  { policy, continuation }: StoredSpawn,
  request: ResumeRequest = {},
): readonly Way[] {
  const strategy = request.continuation ?? continuation ?? 'pinned-session'
  const can: Readonly<Record<Way, boolean>> = {
    resume,
    load,
    native: policy?.resumesByFlags === true,
    transcript: policy?.continuation?.includes('transcript') === true,
  }
  return WAYS[strategy].filter((way) => can[way])
}
function assertEnded(session: Session): void {
  if (isLive(session)) throw new AgentprotoError('session_live', 'The session has not ended', { given: session.status })
  if (session.parentSessionId === undefined) return
  throw new AgentprotoError('not_resumable', 'The session was started by an agent, and such a session is not resumed', {
    hint: 'Start a new session, or resume the one that started it',
    data: { final: true },
  })
}

export interface ResumeCall extends ResumeRequest {
  /** A prompt to an ended session resumes it first. */
  readonly isByPrompt?: boolean
}

const exhausted = (maxTurns: number): AgentprotoError =>
  new AgentprotoError('not_resumable', `The session has used all turns that its adapter allows (${maxTurns})`, {
    hint: 'Start a new session',
    data: { final: true },
  })

const notResumable = ({ status, agentSessionId }: Session): AgentprotoError =>
  new AgentprotoError('not_resumable', `The session has ended (${status}) and cannot be resumed`, {
    expected: 'an adapter whose sessions are resumable, and an agent that remembers or accepts a transcript',
    ...(agentSessionId === undefined ? { given: 'a session without an agent session id' } : {}),
    hint: 'Begin a new conversation in it with {"fresh": true}, or start a new session',
  })
