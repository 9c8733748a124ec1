import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { createHttpApp, type HttpApp } from '@agentproto/gateway-http'
import { openSessionRegistry, type SessionRegistryOptions } from '@agentproto/session-registry'
import { createWorkspaces, createWorkspaceTrust } from '@agentproto/workspaces'
import { BrowserCodes } from './access/browser-codes.js'
import type { GatewayOptions } from './gateway-options.js'
import { takeHome } from './home-lock.js'
import { HostAdapters } from './agents/host-adapters.js'
import { endLeftovers } from './agents/leftovers.js'
import { lazyMcp } from './lazy-mcp.js'
import { lazyMetrics } from './telemetry/lazy-metrics.js'
import { lazyOpenApi } from './lazy-openapi.js'
import { Listeners } from './listen/listeners.js'
import { openCatalog } from './agents/open-adapters.js'
import { ownerToken } from './access/owner-token.js'
import { Principals } from './access/principals.js'
import { sessionAgents } from './agents/session-agent.js'
import { SessionTokens } from './access/session-tokens.js'
import { stores } from './stores.js'
import { TokenStore } from './access/token-store.js'
import { version } from './version.js'
import { withConfig } from './with-config.js'
import { workspaceAdapters } from './agents/workspace-adapters.js'
import type { Gateway } from './gateway.js'
import { settle, type Settings } from './settings.js'
import { RunningGateway, type GatewayParts } from './running-gateway.js'

/**
 * Makes a gateway: registry, adapters, workspaces, HTTP and MCP over them.
 * @throws `daemon_running` when another gateway has the home, `invalid_request` when its config.json is not valid,
 *   `storage_failed`
 */
export async function createGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const settings = settle(await withConfig(options))
  const { layout, inMemory } = settings
  const lock = takeHome(layout.root, inMemory)
  try {
    return new RunningGateway({ ...(await assemble(settings)), layout, lock })
  } catch (error) {
    lock?.release()
    throw error
  }
}

async function assemble(settings: Settings): Promise<Omit<GatewayParts, 'layout' | 'lock'>> {
  const { clock, layout, onProblem, host, audited, sessions: config } = settings
  const defaultCwd = settings.cwd ?? process.cwd()
  const files = createWorkspaces({ home: layout.root, clock, defaultCwd, onWarning: onProblem })
  const workspaces = audited.workspaces(files)
  const trust = createWorkspaceTrust({ home: layout.root, clock, onWarning: onProblem })
  const ofWorkspaces = () => workspaceAdapters(workspaces, trust)
  const catalog = openCatalog(settings, { host, layout, onProblem, ofWorkspaces })
  const adapters = audited.adapters(new HostAdapters(catalog, host))
  const ofSessions = new SessionTokens(host.redactor)
  const hooks = settings.hooks && new (await import('./hooks/hook-host.js')).HookHost(settings.hooks, settings)
  const opened = await openSessionRegistry({
    ...stores(settings),
    adapters,
    workspaces,
    hostId: hostname(),
    clock,
    startAgent: sessionAgents({ catalog, host, tokens: ofSessions, serve: settings.serve ?? {}, log: settings.ownLog }),
    onAgentEnding: (id) => ofSessions.revoke(id),
    redact: (json) => host.redactor.redactJson(json),
    endLeftovers: (stored) => endLeftovers(stored, onProblem),
    onProblem,
    onEvents: eventsOf(settings),
    ...(config === undefined ? {} : { config }),
    ...(hooks === undefined ? {} : { gate: hooks.gate }),
  })
  // Outermost, so that what a hook denies is written down as well.
  const registry = audited.registry((await hooks?.guard(opened)) ?? opened)
  const token = settings.token ?? (settings.inMemory ? crypto.randomUUID() : ownerToken(layout.token))
  const named = new TokenStore({ path: settings.inMemory ? undefined : layout.tokens, clock, onProblem })
  const tokens = audited.tokens(named)
  const principals = new Principals(token, named, ofSessions)
  const mcp = lazyMcp({
    sessions: registry,
    adapters,
    workspaces,
    version,
    clock,
    onRefused: (refused) => audited.refused(refused),
    onError: (error) => onProblem(`MCP: ${describe(error)}`),
  })
  const ending = new AbortController()
  // Each open stream listens to it; how many those are is bounded where they are opened.
  setMaxListeners(0, ending.signal)
  const app = httpApp(settings, { registry, workspaces, adapters, tokens, mcp, ending, principals })
  const listeners = new Listeners({ ...settings, app, authenticate: (given) => principals.authenticate(given) })
  const { ownLog: log, young } = settings
  return { registry, workspaces, adapters, app, token, tokens, mcp, ending, listeners, log, audited, young }
}

/** What is done with each stored batch, beside what its session does. */
function eventsOf({ meter, young, ownLog, audited }: Settings): NonNullable<SessionRegistryOptions['onEvents']> {
  return function takeEvents(events, urgent) {
    meter.take(events, urgent)
    young.take(events.length)
    if (urgent) ownLog.events(events)
    audited.events(events)
  }
}

interface AppParts extends Omit<
  GatewayParts,
  'app' | 'token' | 'layout' | 'lock' | 'listeners' | 'log' | 'audited' | 'young'
> {
  readonly principals: Principals
}

function httpApp(
  settings: Settings,
  { registry, workspaces, adapters, tokens, mcp, ending, principals }: AppParts,
): HttpApp {
  const { clock, onProblem, names, allowedHosts, allowedOrigins } = settings
  return createHttpApp({
    sessions: registry,
    permissions: registry.permissions,
    archive: registry.archive,
    adapters,
    workspaces,
    authenticate: (given) => principals.authenticate(given),
    tokens,
    browsers: new BrowserCodes(tokens, clock),
    revoked: (by) => principals.revoked(by),
    version,
    clock,
    mcp: (request, by) => mcp.fetch(request, by),
    openApi: lazyOpenApi(),
    metrics: lazyMetrics(registry, settings.meter),
    signal: ending.signal,
    onRefused: (refused) => settings.audited.refused(refused),
    isOwnHost: (name) => names.has(name),
    onError: (error, { method, path }) => onProblem(`${method} ${path}: ${describe(error)}`),
    ...(allowedHosts === undefined ? {} : { allowedHosts }),
    ...(allowedOrigins === undefined ? {} : { allowedOrigins }),
  })
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))
