import type { BrowserCodeRequest, Host, SessionChange, UsageQuery, UsageReport } from '@agentproto/contracts/wire'
import { archiveClient } from './archive-client.js'
import { adaptersClient } from './adapters-client.js'
import { changesClient } from './changes-client.js'
import { changeFeed, type WatchOptions } from './change-feed.js'
import { clientSettings, type ClientOptions } from './client-options.js'
import { follow } from './feed.js'
import { notificationsClient, tokensClient, workspacesClient } from './host-clients.js'
import { permissionsClient } from './permissions-client.js'
import { sessionsClient } from './sessions-client.js'
import { Transport } from './transport.js'

/** The answer of `GET /health`, which needs no token. */
export interface Health {
  readonly ok: boolean
  readonly version: string
  readonly [member: string]: unknown
}

export type Client = Readonly<ReturnType<typeof createClient>>

/**
 * A client of one gateway. It opens no connection before the first call.
 *
 * Every call throws {@link AgentprotoError}: the errors of the gateway, and `daemon_not_running` if it cannot be reached. Only calls
 * that are safe to repeat are repeated.
 */
export function createClient(options: ClientOptions) {
  const transport = new Transport(clientSettings(options))
  const sessions = sessionsClient(transport)
  return {
    /** Needs no token. @throws `daemon_not_running` */
    health: (): Promise<Health> => transport.call('GET /health', {}),
    /** What the gateway is, and the budgets of its configuration; needs the owner or the scope `admin`. */
    gateway: () => transport.call('GET /gateway', {}),
    /** The hosts that work as one fleet, by name; without a fleet only the one that answers. */
    hosts: async (): Promise<readonly Host[]> => (await transport.call('GET /hosts', {})).hosts,
    /** What this client's token, or this browser's login, is and may do. */
    caller: () => transport.call('GET /auth/me', {}),
    /** A code that logs in one browser; needs the owner or the scope `admin`. @throws `token_limit_reached` */
    browserCode: (body: BrowserCodeRequest = {}) => transport.call('POST /auth/code', { body }),
    /** Ends the login of this browser. @throws `token_not_found` for a client with a token */
    logOut: () => transport.call('POST /auth/logout', {}),
    sessions,
    archive: archiveClient(transport),
    /** What sessions used, also deleted ones: by default each of the last 30 days. */
    usage: (query: UsageQuery = {}): Promise<UsageReport> => transport.call('GET /usage', { query }),
    changes: changesClient(transport),
    permissions: permissionsClient(transport),
    workspaces: workspacesClient(transport),
    adapters: adaptersClient(transport),
    /** The named tokens; only the answer that creates one has its value. */
    tokens: tokensClient(transport),
    /** What the gateway notifies its owner of. */
    notifications: notificationsClient(transport),
    /** First all sessions, then each change; again after a dropped connection. `signal` stops it with `cancelled`. */
    watch: (watching: WatchOptions = {}): AsyncIterable<SessionChange> =>
      follow(transport, changeFeed(sessions, watching)),
  }
}
