import { defined } from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import type { Services, SessionService } from '@agentproto/contracts/wire'
import type { HomeKeeper, ListedAgent } from '@agentproto/keeper'
import { type Access, type Audit, Hooks, withKeptToken, withSessionToken, wrapMethods } from '@agentproto/server'
import { type CloseOptions, openSessionRegistry } from '@agentproto/session-registry'
import type { Agents } from './open-agents.js'
import { closeInOrder } from './close-in-order.js'
import { endLeftovers } from './end-leftovers.js'
import { hostNameOf } from './fleet-settings.js'
import { forgetSandboxes } from './forget-sandboxes.js'
import { endEarlierCommands } from './hosted-commands.js'
import { endMovable, leftFleet } from './left-fleet.js'
import type { Notifications } from './open-notifications.js'
import type { Observers } from './observe.js'
import type { Settings } from './settings.js'
import { AgentGuards } from './agent-guards.js'
import { forgetAgent, forgetUnclaimed, heldAgents } from './open-agent-keeper.js'
import { recording } from './recording.js'
import { sessionWorktrees } from './session-worktrees.js'
import { stores } from './stores.js'

interface Keeping {
  readonly keeper: HomeKeeper | undefined
}

/** The sessions of a gateway, as their callers see them: with hooks and audit. */
export type Sessions = Awaited<ReturnType<typeof openSessions>>

/** Ends what an earlier gateway left of a session. */
async function endAllOf(
  stored: StoredSession,
  { keeper, sharedProcesses, onProblem }: Keeping & Observers & Agents,
): Promise<void> {
  const { process, ...rest } = stored
  // A process that other sessions go on with closes this one, and is not ended.
  const isShared = process?.marker !== undefined && (await sharedProcesses.holds(process.marker))
  await endLeftovers(isShared ? rest : stored, onProblem)
  // A keeper that is lost holds nothing more of it, and the session can be repaired without it.
  if (keeper !== undefined)
    await forgetAgent(keeper, stored.session.id).catch((thrown: unknown) => onProblem(String(thrown)))
}

/** Ends and removes what earlier gateways left without a session that goes on with it. */
async function forgetEarlier(
  agents: readonly ListedAgent[],
  sessions: Pick<SessionService, 'get'>,
  { settings, ...parts }: Keeping & Observers & Agents & { readonly settings: Settings },
): Promise<void> {
  await forgetUnclaimed(agents, sessions, parts)
  await forgetSandboxes(sessions, settings, parts.onProblem)
}

/**
 * What the keeper holds of an earlier gateway, whose commands are ended. It is asked before any agent goes on: the answer would come
 * after all that the agents have written meanwhile.
 */
async function earlierAgents({ keeper, onProblem }: Keeping & Observers): Promise<readonly ListedAgent[]> {
  const agents = keeper === undefined ? [] : await heldAgents(keeper, onProblem)
  endEarlierCommands(agents, onProblem)
  return agents
}

/** What is done with agents of an earlier gateway. */
const goingOn = (parts: Keeping & Observers & Agents) => ({
  onAdoption: parts.metrics.adoption,
  onAdopted: () => parts.sharedProcesses.begin(),
  endLeftovers: (stored: StoredSession) => endAllOf(stored, parts),
})

/** In a fleet another host may have taken sessions meanwhile. */
const heldBack = (settings: Settings, guards: AgentGuards | undefined) =>
  defined({
    suspended: settings.fleet === undefined ? leftFleet(settings) : 'its host is not one of its fleet yet',
    guardAgents: guards?.guard,
  })

/** The services that a fleet answers with for the sessions of all hosts. */
export type SessionServices = Pick<Services, 'sessions' | 'permissions' | 'archive' | 'usage' | 'worktrees' | 'changes'>

/** Each service as an object of functions. */
const plain = ({ sessions, permissions, archive, usage, worktrees, changes }: SessionServices): SessionServices => ({
  sessions: wrapMethods(sessions, (_, run) => run),
  permissions: wrapMethods(permissions, (_, run) => run),
  archive: wrapMethods(archive, (_, run) => run),
  usage: wrapMethods(usage, (_, run) => run),
  worktrees: wrapMethods(worktrees, (_, run) => run),
  changes: wrapMethods(changes, (_, run) => run),
})

/** @param hostOf Of a fleet: the other host that has a session */
export const auditedServices = (
  { usage, ...services }: SessionServices,
  audit: Pick<Audit, 'wrap'>,
  hostOf?: (sessionId: string) => string | undefined,
): SessionServices => ({
  sessions: audit.wrap('sessions', services.sessions, hostOf),
  permissions: audit.wrap('permissions', services.permissions, hostOf),
  archive: audit.wrap('archive', services.archive, hostOf),
  usage,
  worktrees: audit.wrap('worktrees', services.worktrees, hostOf),
  changes: audit.wrap('changes', services.changes, hostOf),
})

/** Opens the registry over the home's stores; sessions that an earlier gateway left are repaired first. */
export async function openSessions(settings: Settings, parts: Observers & Access & Agents & Notifications & Keeping) {
  const { clock, address } = settings
  const {
    adapters,
    workspaces,
    startAgent,
    adoptAgent,
    sessionTokens: tokens,
    redact,
    onProblem,
    onEvents,
    keeper,
    log,
    audit,
    metrics,
    notifier: { events: news },
  } = parts
  const hooks = settings.hooks && new Hooks(settings.hooks, { clock, onProblem })
  const earlier = await earlierAgents(parts)
  const guards = settings.fleet && keeper && new AgentGuards(keeper, onProblem)
  const registry = await openSessionRegistry({
    ...stores({ ...settings, onProblem }),
    ...sessionWorktrees(settings, parts),
    ...recording(settings),
    adapters,
    workspaces,
    clock,
    onProblem,
    onEvents: (events, urgent) => {
      onEvents(events, urgent)
      news?.(events)
    },
    onUsage: metrics.usage,
    hostId: hostNameOf(settings),
    startAgent: withSessionToken(startAgent, { tokens, url: () => address.url, bin: settings.bin, log }),
    ...(adoptAgent && { adoptAgent: withKeptToken(adoptAgent, tokens) }),
    onAgentEnding: (id) => tokens.revoke(id),
    redact,
    ...goingOn(parts),
    ...heldBack(settings, guards),
    ...defined({ config: settings.sessions, gate: hooks?.gate }),
  })
  tokens.forgetEarlier()
  await forgetEarlier(earlier, registry, { ...parts, settings })
  const left = leftFleet(settings)
  if (left !== undefined) await endMovable(left, { sessions: registry, moves: registry.moves, keeper, onProblem })
  const close = (options?: CloseOptions): Promise<void> =>
    closeInOrder([() => registry.close(options), () => hooks?.close()])
  const hooked = await hookedOrClosed(registry, hooks, close)
  const { permissions, archive, usage, worktrees, changes } = registry
  const unaudited = plain({ sessions: hooked, permissions, archive, usage, worktrees, changes })
  // The audit is outermost: what a hook denies is recorded as well.
  return {
    ...auditedServices(unaudited, audit),
    unaudited,
    moves: audit.moves(registry.moves),
    ...defined({ guards }),
    close,
  }
}

/** With the hooks around it; what is open is closed where they cannot be. */
async function hookedOrClosed(
  sessions: SessionService,
  hooks: Hooks | undefined,
  close: () => Promise<void>,
): Promise<SessionService> {
  try {
    return (await hooks?.wrap(sessions)) ?? sessions
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}
