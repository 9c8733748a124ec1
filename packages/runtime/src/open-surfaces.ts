import { setMaxListeners } from 'node:events'
import { consoleFolder } from '@agentproto/console'
import { defined } from '@agentproto/contracts'
import { createHttpApp } from '@agentproto/gateway-http'
import { type Access, browserCodes, HostNames, Listeners } from '@agentproto/server'
import type { SessionService } from '@agentproto/contracts/wire'
import type { HomeKeeper } from '@agentproto/keeper'
import type { CloseOptions } from '@agentproto/session-registry'
import type { Agents } from './open-agents.js'
import { consoleFiles } from './console-files.js'
import { gatewayInfo } from './gateway-info.js'
import type { Hosts } from './open-fleet.js'
import { closeInOrder } from './close-in-order.js'
import { lazyAcp, lazyMcp, lazyOpenApi } from './lazy-surfaces.js'
import type { Notifications } from './open-notifications.js'
import type { Observers } from './observe.js'
import type { Sessions } from './open-sessions.js'
import type { Settings } from './settings.js'
import { version } from './version.js'

export type Surfaces = ReturnType<typeof openSurfaces>

type Parts = Observers &
  Access &
  Agents &
  Sessions &
  Notifications &
  Hosts & {
    /** The sessions of this host alone. */
    readonly own: SessionService
    readonly keeper: HomeKeeper | undefined
  }

/** HTTP and MCP over the services of a gateway, and the sockets that serve them. */
export function openSurfaces(settings: Settings, parts: Parts) {
  const { clock, allowedHosts, allowedOrigins, publicUrl, layout, inMemory, address, listen: defaults } = settings
  const { sessions, permissions, archive, usage, worktrees, changes, adapters, workspaces, tokens, notifications } =
    parts
  const { authenticate, revoked, onProblem, audit, log, metrics, keeper, hosts, own, fleet, guards } = parts
  const documents = { archive, usage, worktrees, changes, hosts }
  const services = { sessions, permissions, ...documents, adapters, workspaces, tokens, notifications, clock, version }
  const onRefused = audit.refused
  const mcp = lazyMcp({ ...services, onRefused, onError: (error) => onProblem(`MCP: ${stackOf(error)}`) })
  const host = defined({ host: settings.fleet?.host })
  const ofAcp = { sessions, adapters, version, clock, onRefused, onProblem, ...host }
  const acp = lazyAcp({ ...ofAcp, onError: (error) => onProblem(`ACP: ${stackOf(error)}`) })
  const names = new HostNames(clock)
  const ending = new AbortController()
  // Each open stream listens to it; their number is bounded where they are opened.
  setMaxListeners(0, ending.signal)
  const app = createHttpApp({
    ...services,
    authenticate,
    revoked,
    browsers: browserCodes(tokens, clock, revoked),
    mcp: (request, by, ended) => mcp.fetch(request, by, ended),
    acp,
    openApi: lazyOpenApi(),
    consoleFiles: consoleFiles(consoleFolder),
    gateway: gatewayInfo(settings, { keeper: keeper?.info, fleet, guards }),
    metrics: async (streams) => {
      metrics.setFleet(fleet?.figures)
      metrics.setGuards(guards)
      metrics.setKept((await keeper?.list().catch(() => [])) ?? [])
      return metrics.text(own, streams, await notifications.state())
    },
    signal: ending.signal,
    onRefused,
    onError: (error, { method, path }) => onProblem(`${method} ${path}: ${stackOf(error)}`),
    isOwnHost: (name) => names.has(name),
    ...(allowedHosts && { allowedHosts }),
    ...(allowedOrigins && { allowedOrigins }),
    ...(publicUrl !== undefined && { publicUrl }),
  })
  const recordPath = inMemory ? undefined : layout.daemon
  const keepsAddress = keeper !== undefined
  const listeners = new Listeners({ app, version, defaults, onProblem, address, names, recordPath, keepsAddress, log })
  return {
    app,
    listeners,
    /** Ends every stream, then every connection, forced after the grace (milliseconds). */
    close: (graceMs: number, { keepAgents: keepRecord = false }: CloseOptions = {}) =>
      closeInOrder([
        () => ending.abort(),
        () => mcp.close(),
        () => acp.close(),
        () => listeners.close(graceMs, { keepRecord }),
      ]),
  }
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))
