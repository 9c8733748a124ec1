import type { Session } from '@agentproto/client'

export type Grouping = 'workspace' | 'state' | 'host'

const MEMBER = { workspace: 'workspaceSlug', state: 'state', host: 'hostId' } as const

export interface SessionGroup {
  readonly name: string
  readonly rows: readonly SessionRow[]
}

/** `depth`: 0, or how many of its ancestors are above it in the group. */
export interface SessionRow {
  readonly session: Session
  readonly depth: number
}

/** Sessions in groups, in each those that wait for a person first; a session that an agent started is below that agent's. */
export function groupsOf(sessions: readonly Session[], by: Grouping): readonly SessionGroup[] {
  const groups = grouped(sessions.toSorted(byUrgency), (session) => session[MEMBER[by]])
  return [...groups].map(([name, members]) => ({ name, rows: rowsOf(members) }))
}

const RANK: Readonly<Record<Session['state'], number>> = {
  waiting: 0,
  busy: 1,
  starting: 2,
  idle: 3,
  unreachable: 4,
  asleep: 5,
  failed: 6,
  ended: 7,
}

const byUrgency = (a: Session, b: Session): number =>
  RANK[a.state] - RANK[b.state] || b.lastActiveAt.localeCompare(a.lastActiveAt)

function rowsOf(members: readonly Session[]): readonly SessionRow[] {
  const ids = new Set(members.map(({ id }) => id))
  const children = grouped(members, ({ id, parentSessionId }) =>
    parentSessionId !== undefined && parentSessionId !== id && ids.has(parentSessionId) ? parentSessionId : '',
  )
  const rows: SessionRow[] = []
  const seen = new Set<string>()
  const add = (parent: string, depth: number): void => {
    for (const session of children.get(parent) ?? []) {
      if (seen.has(session.id)) continue
      seen.add(session.id)
      rows.push({ session, depth })
      add(session.id, depth + 1)
    }
  }
  add('', 0)
  // Only a circle of parents leaves anything: no session may be hidden by what it says of itself.
  for (const session of members) if (!seen.has(session.id)) rows.push({ session, depth: 0 })
  return rows
}

function grouped(sessions: readonly Session[], keyOf: (session: Session) => string): ReadonlyMap<string, Session[]> {
  const groups = new Map<string, Session[]>()
  for (const session of sessions) {
    const key = keyOf(session)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [session])
    else group.push(session)
  }
  return groups
}
