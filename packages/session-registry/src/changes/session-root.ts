import type { Session } from '@agentproto/contracts'
import type { StoredSpawn } from '@agentproto/contracts/agent'

interface Placed {
  readonly session: Pick<Session, 'cwd'>
  readonly spawn: Pick<StoredSpawn, 'roots'>
}

/** The real path of a session's folder at its start. */
export const rootOf = ({ session, spawn }: Placed): string => spawn.roots?.[0] ?? session.cwd
