import type { Session, SessionChange, TokenService, Workspace, WorkspacesFile } from '@agentproto/contracts'
import { archiveClient, type ArchiveClient } from './archive-client.js'
import { adaptersClient, type AdaptersClient } from './adapters-client.js'
import { changeFeed, type WatchOptions } from './change-feed.js'
import { clientSettings, type ClientOptions } from './client-options.js'
import { follow } from './feed.js'
import { permissionsClient, type PermissionsClient } from './permissions-client.js'
import { sessionsClient, type SessionsClient } from './sessions-client.js'
import { tokensClient } from './tokens-client.js'
import { Transport } from './transport.js'

/** What `GET /health` tells, to anybody. */
export interface Health {
  readonly ok: boolean
  readonly version: string
  readonly [member: string]: unknown
}

export interface WorkspacesClient {
  list(): Promise<WorkspacesFile>
  /** @throws `workspace_exists`, `workspace_invalid`, `path_invalid` */
  add(request: {
    readonly path: string
    readonly slug?: string
    readonly label?: string
    readonly use?: boolean
  }): Promise<Workspace>
  /** @throws `workspace_not_found` */
  remove(slug: string): Promise<void>
  /** @throws `workspace_not_found` */
  use(slug: string): Promise<Workspace>
}

export interface Client {
  /** Needs no token. @throws `daemon_not_running` */
  health(): Promise<Health>
  readonly sessions: SessionsClient
  readonly archive: ArchiveClient
  readonly permissions: PermissionsClient
  readonly workspaces: WorkspacesClient
  readonly adapters: AdaptersClient
  /** The named tokens; their values are in the answers that make them, and nowhere else. */
  readonly tokens: TokenService
  /**
   * First every session as it is, then each change; the same again after a dropped connection. Stop it
   * through `signal`, which makes it throw `cancelled`.
   */
  watch(options?: WatchOptions): AsyncIterable<SessionChange>
}

/**
 * A client of one gateway. It holds no connection until something is asked.
 *
 * Every call throws {@link AgentprotoError}: the gateway's problem documents as the errors they were,
 * `daemon_not_running` when nobody answers. Only calls that are safe to repeat are repeated.
 */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(clientSettings(options))
  const sessions = sessionsClient(transport)
  return {
    health: () => transport.json({ path: '/health' }),
    sessions,
    archive: archiveClient(transport),
    permissions: permissionsClient(transport),
    workspaces: workspacesClient(transport),
    adapters: adaptersClient(transport),
    tokens: tokensClient(transport),
    watch: (watching = {}) =>
      follow(
        transport,
        changeFeed(() => allSessions(sessions), watching),
      ),
  }
}

function workspacesClient(transport: Transport): WorkspacesClient {
  const at = (slug: string): string => `/workspaces/${encodeURIComponent(slug)}`
  return {
    list: () => transport.json({ path: '/workspaces' }),
    add: (body) => transport.json({ method: 'POST', path: '/workspaces', body }),
    async remove(slug) {
      await transport.json({ method: 'DELETE', path: at(slug) })
    },
    use: (slug) => transport.json({ method: 'POST', path: `${at(slug)}/use` }),
  }
}

async function allSessions(sessions: SessionsClient): Promise<readonly Session[]> {
  const all: Session[] = []
  let after: string | undefined
  do {
    const page = await sessions.list({ limit: 1_000, ...(after === undefined ? {} : { after }) })
    all.push(...page.sessions)
    after = page.nextCursor
  } while (after !== undefined)
  return all
}
