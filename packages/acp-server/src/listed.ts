import { defined, type Session } from '@agentproto/contracts'
import type { ListSessionsRequest, SessionInfo } from '@agentclientprotocol/sdk'
import { realpath } from 'node:fs/promises'
import type { AcpSessions } from './acp-host.js'

/** Sessions of one answer to `session/list`. */
const PAGE = 100

/** One page of all sessions of the gateway, the newest first. */
export async function listed(
  sessions: AcpSessions,
  { cwd, cursor }: ListSessionsRequest,
): Promise<{ sessions: SessionInfo[]; nextCursor?: string }> {
  // Sessions run in real paths, and a client may pass a link. A folder of another host is passed on unchanged.
  const folder = typeof cwd === 'string' ? await realpath(cwd).catch(() => cwd) : undefined
  const page = await sessions.list({ limit: PAGE, ...defined({ cwd: folder, after: cursor ?? undefined }) })
  return { sessions: page.sessions.map(infoOf), ...defined({ nextCursor: page.nextCursor }) }
}

function infoOf({ id, cwd, title, label, lastActiveAt, state, ...session }: Session): SessionInfo {
  const { adapterSlug: adapter, status, additionalDirectories } = session
  return {
    sessionId: id,
    cwd,
    updatedAt: lastActiveAt,
    ...defined({ title: title ?? label }),
    ...(additionalDirectories === undefined ? {} : { additionalDirectories: [...additionalDirectories] }),
    // Its status is that of the time when its host was last heard from.
    _meta: { agentproto: { adapter, status, ...(state === 'unreachable' ? { state } : {}), ...defined({ label }) } },
  }
}
