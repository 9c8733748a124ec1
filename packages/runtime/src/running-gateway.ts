import type {
  AdapterService,
  HomeLayout,
  PermissionService,
  SessionArchive,
  SessionService,
  TokenService,
  WorkspaceService,
} from '@agentproto/contracts'
import type { HttpApp } from '@agentproto/gateway-http'
import type { McpEndpoint } from '@agentproto/mcp-tools'
import type { SessionRegistry } from '@agentproto/session-registry'
import type { Audit } from './audit/audit.js'
import type { GatewayLog } from './telemetry/gateway-log.js'
import type { ListenOptions } from './gateway-options.js'
import type { HomeLock } from './home-lock.js'
import { inOrder } from './in-order.js'
import type { Listeners } from './listen/listeners.js'
import type { YoungHeap } from './young-heap.js'
import type { Gateway } from './gateway.js'

const CLOSE_GRACE_MS = 2_000

/** What a gateway is made of. */
export interface GatewayParts {
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

/** A gateway from its making to its end. */
export class RunningGateway implements Gateway {
  readonly sessions: SessionService
  readonly permissions: PermissionService
  readonly archive: SessionArchive
  readonly workspaces: WorkspaceService
  readonly adapters: AdapterService
  readonly app: HttpApp
  readonly token: string
  readonly tokens: TokenService
  readonly home: string
  readonly #parts: GatewayParts
  #closing: Promise<void> | undefined

  constructor(parts: GatewayParts) {
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
