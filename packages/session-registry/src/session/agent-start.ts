import { type AgentConfig, AgentprotoError, defined } from '@agentproto/contracts'
import type { AgentSink, ConfigChange, RunningAgent } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'
import { configChanges, described } from '../lifecycle/restore-config.js'
import { startOptionsOf } from '../lifecycle/spawn-request.js'
import { fitMode } from '../permissions/agent-mode.js'
import type { SessionHost } from '../session-host.js'
import { transcriptOf } from '../turns/transcript-of.js'
import type { SessionHandle } from './session-handle.js'
import type { StartEffect } from './state.js'

/** The longest that a start waits until a conversation can be resumed, in milliseconds. */
const MAX_WAIT_MS = 2 * 60_000

export interface Starting extends StartEffect {
  readonly sink: AgentSink
  readonly signal: AbortSignal
  readonly attach: (agent: RunningAgent) => void
}

/** Starts the agent of a session, configures it as it was before, and posts how that went. Never rejects. */
export async function startAgent(session: SessionHandle, host: SessionHost, starting: Starting): Promise<void> {
  try {
    const before = session.state.session.config
    const agent = await launch(session, host, starting)
    await adaptMode(session, agent)
    await restoreConfig(session, agent, before)
    await session.post({ type: 'agent-ready' })
  } catch (error) {
    await session.post({ type: 'start-failed', error })
  }
}

/** Sets the agent's own mode to one that fits the permission mode. What stands against it becomes a warning. */
export async function adaptMode(session: SessionHandle, agent: RunningAgent): Promise<void> {
  const { session: descriptor, spawn } = session.state
  const message = await fitMode(agent, { ...descriptor, permissionMode: session.permissions.mode }, spawn)
  if (message !== undefined) await session.post({ type: 'warn', message })
}

async function launch(session: SessionHandle, host: SessionHost, starting: Starting): Promise<RunningAgent> {
  const { origin, how, trace, sink, signal, attach } = starting
  const transcript = how === 'transcript' ? await transcriptOf(session) : undefined
  if (origin.how !== 'new') await untilResumable(session, host, signal)
  if (how === undefined || isFirstHere(session)) await prepareWorktree(session, host, signal)
  const startedAt = new Date(host.clock.now()).toISOString()
  const agent = await host.startAgent(startOptionsOf(session.state, { origin, signal, trace }), sink)
  attach(agent)
  const { info, agentSessionId, process, sandbox, kept, warnings } = agent
  const facts = {
    info,
    agentSessionId,
    ...defined({ process, sandbox, kept }),
    warnings,
    startedAt,
    transcript,
    isInstructed: agent.instructed === true,
    knowsConversation: origin.how !== 'new',
  }
  await session.post({ type: 'agent-started', facts })
  return agent
}

/** Whether another host had it, and this one has started no agent of it yet. */
const isFirstHere = ({ state }: SessionHandle): boolean =>
  state.session.movedFrom !== undefined && state.agentStartedAt === undefined

/** Once, at the first start of the session that the worktree was created for. */
async function prepareWorktree(session: SessionHandle, { worktrees }: SessionHost, signal: AbortSignal): Promise<void> {
  const { spawn, session: descriptor } = session.state
  if (spawn.worktree === undefined || spawn.ownsWorktree !== true) return
  const report = (message: string): void =>
    void session.post({ type: 'report', entries: [{ type: 'runtime-progress', elapsedMs: 0, idleMs: 0, message }] })
  await worktrees?.prepare?.(spawn.worktree, { sessionId: descriptor.id, signal, report })
}

/**
 * Sets the agent to the mode, model and options that callers had set, and to those that it had when it ended. One that it
 * refuses is reported, and costs nothing else.
 */
async function restoreConfig(
  session: SessionHandle,
  agent: RunningAgent,
  before: AgentConfig | undefined,
): Promise<void> {
  for (const change of session.state.spawn.changes ?? []) await set(session, agent, change)
  if (before === undefined) return
  for (const change of configChanges(before, session.state.session.config)) await set(session, agent, change)
}

async function set(session: SessionHandle, agent: RunningAgent, change: ConfigChange): Promise<void> {
  try {
    await agent.configure(change)
  } catch (refused) {
    const message = `The agent could not be set to ${described(change)} again: ${messageOf(refused)}`
    await session.post({ type: 'report', entries: [{ type: 'runtime-warning', message }] })
  }
}

/** Waits where an agent would lose a conversation that is resumed too early (`resumeAfterMs` of the adapter). */
async function untilResumable(session: SessionHandle, { clock }: SessionHost, signal: AbortSignal): Promise<void> {
  const { spawn, agentStartedAt, session: descriptor } = session.state
  const dueAt = Date.parse(agentStartedAt ?? descriptor.startedAt) + (spawn.policy?.resumeAfterMs ?? 0)
  const waitMs = Math.min(MAX_WAIT_MS, dueAt - clock.now())
  if (waitMs <= 0) return
  const message = `The agent would lose a conversation that is this young: it is started in ${Math.ceil(waitMs / 1_000)} s`
  await session.post({ type: 'report', entries: [{ type: 'runtime-progress', elapsedMs: 0, idleMs: 0, message }] })
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      timer.cancel()
      reject(new AgentprotoError('cancelled', 'The start of the agent was cancelled'))
    }
    const timer = clock.after(waitMs, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
  })
}
