import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import {
  type AdapterService,
  type Clock,
  type HomeLayout,
  type PermissionService,
  type SessionArchive,
  type SessionService,
  systemClock,
  type TokenService,
  type WorkspaceService,
} from '@agentproto/contracts'
import type { ProvisionHost } from '@agentproto/driver-agent-cli/provision'
import { createHttpApp, type HttpApp } from '@agentproto/gateway-http'
import type { McpEndpoint } from '@agentproto/mcp-tools'
import { openSessionRegistry, type SessionRegistry, type SessionRegistryOptions } from '@agentproto/session-registry'
import { createWorkspaces, createWorkspaceTrust } from '@agentproto/workspaces'
import { type Audit, openAudit } from './audit/audit.js'
import { BrowserCodes } from './browser-codes.js'
import { GatewayLog } from './gateway-log.js'
import type { GatewayOptions, ListenOptions } from './gateway-options.js'
import { type HomeLock, takeHome } from './home-lock.js'
import { HostAdapters } from './host-adapters.js'
import { inOrder } from './in-order.js'
import { endLeftovers } from './leftovers.js'
import { lazyMcp } from './lazy-mcp.js'
import { lazyMetrics } from './lazy-metrics.js'
import { lazyOpenApi } from './lazy-openapi.js'
import { Listeners } from './listeners.js'
import { Meter } from './meter.js'
import { agentHost, openCatalog } from './open-adapters.js'
import { OwnNames } from './own-names.js'
import { ownerToken } from './owner-token.js'
import { Principals } from './principals.js'
import { sessionAgents } from './session-agent.js'
import { SessionTokens } from './session-tokens.js'
import { stores } from './stores.js'
import { TokenStore } from './token-store.js'
import { version } from './version.js'
import { layoutOf, withConfig } from './with-config.js'
import { workspaceAdapters } from './workspace-adapters.js'
import { YoungHeap } from './young-heap.js'

/** The whole of agentproto in one object. */
export interface Gateway extends AsyncDisposable {
  readonly sessions: SessionService
  /** The rules that answer agents' permission requests. */
  readonly permissions: PermissionService
  /** Its sessions as stored documents: search, export, import, prune, repair. */
  readonly archive: SessionArchive
  readonly workspaces: WorkspaceService
  readonly adapters: AdapterService
  /** The HTTP surface, to be mounted in any server: `app.fetch(request)`. */
  readonly app: HttpApp
  /** The owner's token. */
  readonly token: string
  /** The named tokens beside it. */
  readonly tokens: TokenService
  /** Where the state is; absent for a gateway in memory. */
  readonly home: string
  /**
   * Serves `app` on a socket and leaves `daemon.json` for the command line. Beside the first that is TLS or not on
   * loopback, a plain one on loopback is opened for the agents and the command line of this machine.
   * @throws `listen_failed`; `path_invalid` for a file of TLS that cannot be read
   */
  listen(options?: ListenOptions): Promise<{ readonly url: string; readonly token: string }>
  /**
   * Ends it in order: no new session, every agent gone, every stream closed, every record stored, no socket,
   * no lock. Idempotent.
   */
  close(): Promise<void>
}

const CLOSE_GRACE_MS = 2_000

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

/** The options with their defaults. */
interface Settings extends GatewayOptions {
  readonly clock: Clock
  readonly layout: HomeLayout
  readonly inMemory: boolean
  readonly onProblem: (problem: string) => void
  readonly host: ProvisionHost
  /** Where it is reached, once it listens. */
  readonly address: { url?: string }
  readonly names: OwnNames
  readonly meter: Meter
  readonly young: YoungHeap
  readonly ownLog: GatewayLog
  readonly audited: Audit
}

function settle(options: GatewayOptions): Settings {
  const { clock = systemClock } = options
  const layout = layoutOf(options)
  const address: { url?: string } = {}
  const names = new OwnNames(clock)
  // What went wrong may quote what an agent or a request said.
  const onProblem = (problem: string): void => {
    ownLog.write('warn', 'problem', { problem })
    options.onProblem?.(host.redactor.redact(problem))
  }
  const host = agentHost(options, { layout, clock, onProblem, url: () => address.url })
  const inMemory = options.store === 'memory'
  const redact = (line: string): string => host.redactor.redactJson(line)
  const at = (name: string): string | undefined => (inMemory ? undefined : `${layout.logs}/${name}`)
  const ownLog = new GatewayLog({ ...options.log, path: at('gateway.jsonl'), clock, redact })
  const audited = openAudit({ path: options.audit === false ? undefined : at('audit.jsonl'), clock, redact, onProblem })
  return {
    ...options,
    clock,
    layout,
    inMemory,
    onProblem,
    host,
    address,
    names,
    meter: new Meter(),
    young: new YoungHeap(),
    ownLog,
    audited,
  }
}

async function assemble(settings: Settings): Promise<Omit<Parts, 'layout' | 'lock'>> {
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
  Parts,
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

interface Parts {
  readonly registry: SessionRegistry
  readonly workspaces: WorkspaceService
  readonly adapters: AdapterService
  readonly app: HttpApp
  readonly token: string
  readonly tokens: TokenService
  readonly mcp: McpEndpoint
  readonly layout: HomeLayout
  readonly lock: HomeLock | undefined
  readonly ending: AbortController
  readonly listeners: Listeners
  readonly log: GatewayLog
  readonly audited: Audit
  readonly young: YoungHeap
}

class RunningGateway implements Gateway {
  readonly sessions: SessionService
  readonly permissions: PermissionService
  readonly archive: SessionArchive
  readonly workspaces: WorkspaceService
  readonly adapters: AdapterService
  readonly app: HttpApp
  readonly token: string
  readonly tokens: TokenService
  readonly home: string
  readonly #parts: Parts
  #closing: Promise<void> | undefined

  constructor(parts: Parts) {
    this.sessions = parts.registry
    this.permissions = parts.registry.permissions
    this.archive = parts.registry.archive
    this.workspaces = parts.workspaces
    this.adapters = parts.adapters
    this.app = parts.app
    this.token = parts.token
    this.tokens = parts.tokens
    this.home = parts.layout.root
    this.#parts = parts
  }

  async listen(options: ListenOptions = {}): Promise<{ url: string; token: string }> {
    const { listeners, token, young } = this.#parts
    if (options.ownProcess === true) young.activate()
    return { url: await listeners.open(options), token }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const { registry, mcp, lock, listeners, ending, log, audited } = this.#parts
    await inOrder([
      // Sessions end first: their streams get their terminal event, and then there is nothing to wait for.
      () => registry.close(),
      () => ending.abort(),
      () => mcp.close(),
      () => listeners.close(CLOSE_GRACE_MS),
      () => listeners.removeRecord(),
      () => log.write('info', 'closed', { pid: process.pid }),
      () => audited.close(),
      () => log.close(),
      () => lock?.release(),
    ])
  }
}
