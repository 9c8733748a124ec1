import type { EventBatch } from '@agentproto/contracts/agent'
import type { SessionService } from '@agentproto/contracts/wire'
import type { Fleet } from './fleet.js'
import { fleetFollow, type News } from './fleet-follow.js'
import { ownerOrLog, sharedLog } from './owner-or-log.js'

/** The events and the output of a session on any host: of its owner, and of the fleet's log while that is away. */
export function sessionLogs(fleet: Fleet): Pick<SessionService, 'events' | 'follow' | 'followOutput'> {
  const {
    own: { sessions },
    calls,
    owner,
    owners,
    view,
    log,
    replay,
  } = fleet
  return {
    events: (id, after, limit) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.events', [id, after, limit]),
        inLog: () => log.read(id, after, limit),
      }),
    async follow(id, after) {
      if (owners.otherOf(id) === undefined) return sessions.follow(id, after)
      return fleetFollow(
        {
          async atOwner(from) {
            const host = owners.otherOf(id)
            if (host === undefined) return sessions.follow(id, from)
            return view.isReachable(host) ? calls.to(host).reader('sessions.follow', [id, from]) : undefined
          },
          inLog: async (from) => log.follow(id, from),
          newsOf,
        },
        after,
      )
    },
    async followOutput(id, cursor) {
      const shared = sharedLog(fleet, id)
      if (owners.otherOf(id) === undefined || shared === undefined)
        return owner.reader('sessions.followOutput', [id, cursor])
      return fleetFollow(
        {
          async atOwner(from) {
            const host = owners.otherOf(id)
            if (host === undefined) return sessions.followOutput(id, from)
            return view.isReachable(host) ? calls.to(host).reader('sessions.followOutput', [id, from]) : undefined
          },
          inLog: (from) => replay.followOutput(shared, from),
          newsOf: (items, after) => ({ news: items, after: items.at(-1)?.cursor ?? after }),
        },
        cursor,
      )
    },
  }
}

/**
 * What was read before is left out. A gap says where the numbers go on; also with earlier ones, when another host has the session
 * and the last events of its owner were never published.
 */
function newsOf({ records, gap }: EventBatch, before: number): News<EventBatch, number> {
  const first = gap === undefined ? before : gap.first - 1
  const news = records.filter(({ seq }) => seq > first)
  const after = news.at(-1)?.seq ?? first
  if (gap !== undefined) return { news: { records: news, gap }, after }
  return news.length > 0 ? { news: { records: news }, after } : { after }
}
