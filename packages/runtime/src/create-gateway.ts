import { defined, systemClock } from '@agentproto/contracts'
import type { HomeKeeper, ListedAgent } from '@agentproto/keeper'
import { type Access, type HomeLock, openAccess, openHome, prepareHome } from '@agentproto/server'
import type { CloseOptions } from '@agentproto/session-registry'
import { openAgents } from './open-agents.js'
import { closeInOrder } from './close-in-order.js'
import type { GatewayOptions } from './gateway-options.js'
import type { Gateway } from './gateway.js'
import { observe, type Observers } from './observe.js'
import { endCommands, hostedCommands } from './hosted-commands.js'
import { answeredAtEnd, leaveKeeper, openAgentKeeper } from './open-agent-keeper.js'
import { type Notifications, openNotifications } from './open-notifications.js'
import { type Hosts, openFleetOf } from './open-fleet.js'
import { openSessions, type Sessions } from './open-sessions.js'
import { openSurfaces, type Surfaces } from './open-surfaces.js'
import { layoutOf, type Settings, settingsOf } from './settings.js'

/** How long open connections may take to end, in milliseconds. */
const CLOSE_GRACE_MS = 2_000
/** How long the last events may take to reach the fleet, in milliseconds. */
const LEAVE_MS = 3_000

/**
 * Creates a gateway: registry, adapters, workspaces, HTTP and MCP over them.
 * @throws `daemon_running` when another gateway has the home, `home_newer` when a newer agentproto has written it,
 *   `home_invalid`, `home_upgrade_failed`, `invalid_request` when its config.json is not valid, `storage_failed`
 */
export async function createGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const opened: Opened = { lock: await lockHome(options) }
  try {
    return await assemble(await settingsOf(options), opened)
  } catch (error) {
    // A gateway that cannot start has started no agent. Those of an earlier one go on with the next.
    await closeOpened(opened, { keepAgents: true }).catch(() => undefined)
    throw error
  }
}

/** The lock comes first: from here on the home has this format, and only this gateway. A gateway that stores nothing needs none. */
async function lockHome({ store, clock = systemClock, ...options }: GatewayOptions): Promise<HomeLock | undefined> {
  const { root } = layoutOf(options)
  if (store !== 'memory') return openHome(root, { clock })
  await prepareHome(root, { clock })
  return undefined
}

/** What is open so far. */
interface Opened {
  readonly lock: HomeLock | undefined
  observers?: Observers
  keeper?: HomeKeeper | undefined
  access?: Access
  notifications?: Notifications
  sessions?: Sessions
  fleet?: Hosts
  tidied?: Promise<void>
  surfaces?: Surfaces
}

async function assemble(settings: Settings, opened: Opened): Promise<Gateway> {
  const observers = (opened.observers = observe(settings))
  const keeper = (opened.keeper = await openAgentKeeper(settings, { ...opened, ...observers }))
  const agents = openAgents(settings, { ...observers, keeper })
  const access = (opened.access = openAccess(settings, { ...observers, ...agents }))
  const notifications = (opened.notifications = openNotifications(settings, observers))
  const sessions = (opened.sessions = await openSessions(settings, {
    ...observers,
    ...access,
    ...agents,
    ...notifications,
    keeper,
  }))
  await notifications.notifier.start(sessions.sessions)
  agents.watch(sessions.sessions)
  // Not waited for: an agent may have a gigabyte.
  if (!settings.inMemory) opened.tidied = agents.removeLeft()
  const parts = { ...observers, ...access, ...agents, ...sessions }
  const { hosts, fleet, ...forAll } = (opened.fleet = await openFleetOf(settings, parts))
  // They answer for the sessions of all hosts; what follows uses them in place of its own.
  const services = { ...sessions, ...forAll.services }
  const surfaces = (opened.surfaces = openSurfaces(settings, {
    ...observers,
    ...access,
    ...agents,
    ...services,
    ...notifications,
    own: sessions.sessions,
    hosts,
    ...defined({ fleet }),
    keeper,
  }))

  let closing: Promise<void> | undefined
  const close = (options?: CloseOptions): Promise<void> => (closing ??= closeOpened(opened, options))
  return {
    sessions: services.sessions,
    permissions: services.permissions,
    archive: services.archive,
    usage: services.usage,
    worktrees: services.worktrees,
    changes: services.changes,
    hosts,
    workspaces: agents.workspaces,
    adapters: agents.adapters,
    app: surfaces.app,
    token: access.token,
    tokens: access.tokens,
    notifications: notifications.notifications,
    home: settings.layout.root,
    ...defined({ keeper: keeper?.info }),
    listen: async (options = {}) => ({ url: await surfaces.listeners.open(options), token: access.token }),
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

function closeOpened(
  { lock, observers, keeper, access, notifications, sessions, fleet, surfaces, tidied }: Opened,
  options?: CloseOptions,
): Promise<void> {
  return closeInOrder([
    // Sessions end first: their streams get their terminal event, and nothing is left to wait for.
    () => sessions?.close(options),
    () => keeper && leaveCommands(keeper, observers),
    // One that another program has taken is left to it.
    () => keeper && leaveKeeper(keeper).catch((thrown: unknown) => observers?.onProblem(String(thrown))),
    () => surfaces?.close(CLOSE_GRACE_MS, options),
    () => fleet?.fleet?.close(LEAVE_MS),
    () => tidied,
    () => access?.close(),
    () => notifications?.notifier.close(),
    () => observers?.log.write('info', 'closed', { pid: process.pid }),
    () => observers?.audit.close(),
    () => observers?.log.close(),
    () => lock?.release(),
  ])
}

async function leaveCommands(keeper: HomeKeeper, observers: Observers | undefined): Promise<void> {
  const onProblem = (problem: string): void => observers?.onProblem(problem)
  const list = (): Promise<readonly ListedAgent[]> => answeredAtEnd(keeper.list())
  await endCommands(await hostedCommands({ list }, onProblem), onProblem)
}
