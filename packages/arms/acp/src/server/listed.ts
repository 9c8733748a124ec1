import type { SessionInfo } from '@agentclientprotocol/sdk'
import { defined } from '@agentproto/arm-kit'
import type { Session } from '@agentproto/contracts'
import type { AcpSessions } from './acp-host.js'

/** Sessions of one answer to `session/list`. */
const PAGE = 100

interface Asked {
  /** Only sessions of this folder. */
  readonly cwd: string | undefined
  readonly cursor: string | undefined
}

/** One page of the gateway's sessions, the newest first, whoever has started them. */
export async function listed(
  sessions: AcpSessions,
  { cwd, cursor }: Asked,
): Promise<{ sessions: SessionInfo[]; nextCursor?: string }> {
  const page = await sessions.list({ limit: PAGE, ...(cursor === undefined ? {} : { after: cursor }) })
  const meant = page.sessions.filter((session) => cwd === undefined || session.cwd === cwd)
  return { sessions: meant.map(infoOf), ...defined({ nextCursor: page.nextCursor }) }
}

function infoOf({ id, cwd, title, label, lastActiveAt, ...session }: Session): SessionInfo {
  const { adapterSlug: adapter, status, additionalDirectories } = session
  return {
    sessionId: id,
    cwd,
    updatedAt: lastActiveAt,
    ...defined({ title: title ?? label }),
    ...(additionalDirectories === undefined ? {} : { additionalDirectories: [...additionalDirectories] }),
    _meta: { agentproto: { adapter, status, ...defined({ label }) } },
  }
}
