import { defined, type Session } from '@agentproto/contracts'
import {
  BOUNDS,
  isWithinBounds,
  type SessionBounds,
  type SessionFilter,
  type SessionService,
} from '@agentproto/contracts/wire'
import { askForList, mergeWaiting } from './asked-of-all.js'
import type { Fleet } from './fleet.js'
import { MergedWatch } from './merged-watch.js'
import { listPage } from './session-list.js'
import { copied, shown } from './shown-session.js'

/** The sessions of all hosts together, and their waiting requests. */
export function sessionLists(fleet: Fleet): Pick<SessionService, 'list' | 'waiting' | 'watch'> {
  const {
    host: self,
    own: { sessions },
    owners,
    view,
  } = fleet
  return {
    list: async (filter = {}, within) =>
      owners.isAlone ? sessions.list(filter, within) : listPage(await allSessions(fleet, filter, within), filter),
    async waiting(query = {}, within) {
      if (owners.isAlone) return sessions.waiting(query, within)
      const asked = await askForList(
        fleet,
        () => sessions.waiting(query, within),
        (other) => other.value('sessions.waiting', [query, within]),
      )
      return mergeWaiting(asked, query)
    },
    watch: (within) =>
      new MergedWatch({
        host: self,
        view,
        own: sessions.watch(within),
        within,
        shown: (id) => copied(fleet, id, within),
      }),
  }
}

/** Those of this host as they are, those of others from the copy. The page is made of all of them. */
async function allSessions(
  fleet: Fleet,
  { after: _after, limit: _limit, endedSince: _endedSince, ...filter }: SessionFilter,
  within: SessionBounds | undefined,
): Promise<readonly Session[]> {
  const sessions: Session[] = []
  let after: string | undefined
  do {
    const page = await fleet.own.sessions.list({ ...filter, limit: BOUNDS.listMax, ...defined({ after }) }, within)
    sessions.push(...page.sessions)
    after = page.nextCursor
  } while (after !== undefined)
  const here = new Set(sessions.map(({ id }) => id))
  for (const { owner, session } of fleet.view.sessions()) {
    const isHere = owner === fleet.host && (session.state !== 'unreachable' || here.has(session.id))
    if (isHere || !isWithinBounds(session, within, (id) => fleet.view.session(id)?.session)) continue
    sessions.push(shown(fleet, session, owner))
  }
  return sessions
}
