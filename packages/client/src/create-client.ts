import type { TokenService } from '@agentproto/contracts'
import type { SessionChange } from '@agentproto/contracts/wire'
import { archiveClient, type ArchiveClient } from './archive-client.js'
import { adaptersClient, type AdaptersClient } from './adapters-client.js'
import { changeFeed, type WatchOptions } from './change-feed.js'
import { clientSettings, type ClientOptions } from './client-options.js'
import { follow } from './feed.js'
import { tokensClient, workspacesClient, type WorkspacesClient } from './host-clients.js'
import { permissionsClient, type PermissionsClient } from './permissions-client.js'
import { sessionsClient, type SessionsClient } from './sessions-client.js'
import { Transport } from './transport.js'

/** The answer of `GET /health`, which needs no token. */
export interface Health {
  readonly ok: boolean
  readonly version: string
  readonly [member: string]: unknown
}

export interface Client {
  /** Needs no token. @throws `daemon_not_running` */
  health(): Promise<Health>
  readonly sessions: SessionsClient
  readonly archive: ArchiveClient
  readonly permissions: PermissionsClient
  readonly workspaces: WorkspacesClient
  readonly adapters: AdaptersClient
  /** The named tokens; only the answer that creates one has its value. */
  readonly tokens: TokenService
  /** First all sessions, then each change; again after a dropped connection. `signal` stops it with `cancelled`. */
  watch(options?: WatchOptions): AsyncIterable<SessionChange>
}

/**
 * A client of one gateway. It opens no connection before the first call.
 *
 * Every call throws {@link AgentprotoError}: the errors of the gateway, and `daemon_not_running` if it cannot be reached. Only calls
 * that are safe to repeat are repeated.
 */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(clientSettings(options))
  const sessions = sessionsClient(transport)
  return {
    health: () => transport.call('GET /health', {}),
    sessions,
    archive: archiveClient(transport),
    permissions: permissionsClient(transport),
    workspaces: workspacesClient(transport),
    adapters: adaptersClient(transport),
    tokens: tokensClient(transport),
    watch: (watching = {}) => follow(transport, changeFeed(sessions, watching)),
  }
}
