import {
  AgentprotoError,
  defined,
  isAgentprotoError,
  type QueuedTurn,
  type Session,
  type TurnDetail,
} from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import {
  BOUNDS,
  isWithinBounds,
  type SessionBounds,
  type SessionFilter,
  type SessionService,
} from '@agentproto/contracts/wire'
import { askAll, inTime, mergeWaiting } from './asked-of-all.js'
import { fleetFollow, isUnreachable, type News } from './fleet-follow.js'
import type { FleetServicesOptions } from './fleet-services-options.js'
import { mergedWatch } from './merged-watch.js'
import type { OwnerCalls } from './owner-calls.js'
import { ownerOrLog, sharedLog } from './owner-or-log.js'
import type { Owners } from './owners.js'
import { listPage } from './session-list.js'

/** What the services of a fleet share. */
export interface Fleet extends FleetServicesOptions {
  readonly owners: Owners
  /** Calls of the methods that the owner of a session answers. */
  readonly owner: OwnerCalls
}

/** The sessions of all hosts. */
export const sessionsOf = (fleet: Fleet): SessionService => ({
  ...starts(fleet),
  ...acts(fleet),
  ...ends(fleet),
  ...reads(fleet),
  ...logs(fleet),
  ...lists(fleet),
})

type Part<M extends keyof SessionService> = Pick<SessionService, M>

function starts(fleet: Fleet): Part<'spawn' | 'fork'> {
  const {
    host: self,
    own: { sessions },
    calls,
    owners,
    place,
  } = fleet
  return {
    async spawn(request, by) {
      const host = (await place?.(request, by)) ?? self
      // That host knows its name alone.
      const placed = request.on === undefined ? request : { ...request, on: host }
      if (host === self) return sessions.spawn(placed, by)
      const session = await calls.to(host).value('sessions.spawn', [placed], { by })
      owners.created(session.id, host)
      return session
    },
    async fork(id, request, by) {
      const host = owners.otherOf(id)
      if (host === undefined) return sessions.fork(id, request, by)
      const session = await calls.to(host).value('sessions.fork', [id, request], { by })
      owners.created(session.id, host)
      return shown(fleet, session, host)
    },
  }
}

function acts(fleet: Fleet): Part<'prompt' | 'resume' | 'configure' | 'rename' | 'interrupt' | 'answer'> {
  const { owner } = fleet
  return {
    prompt: (id, request, by) => owner.act('sessions.prompt', [id, request], by),
    resume: (id, request, by) => shownBy(fleet, id, () => owner.act('sessions.resume', [id, request], by)),
    configure: (id, request, by) => shownBy(fleet, id, () => owner.act('sessions.configure', [id, request], by)),
    rename: (id, request, by) => shownBy(fleet, id, () => owner.act('sessions.rename', [id, request], by)),
    interrupt: (id, by, request) => owner.act('sessions.interrupt', [id, request], by),
    answer: (which, answer, by) => owner.act('sessions.answer', [which, answer], by),
  }
}

function ends({ own: { sessions }, owner, owners }: Fleet): Part<'kill' | 'forget'> {
  return {
    async kill(id, by, reason) {
      if (typeof reason !== 'object') return owner.act('sessions.kill', [id, reason], by)
      if (owners.otherOf(id) === undefined) return sessions.kill(id, by, reason)
      throw new AgentprotoError('forbidden', 'A hook ends only sessions of its own host')
    },
    async forget(id, by) {
      const forgotten = await owner.act('sessions.forget', [id], by)
      owners.forgotten(id)
      return forgotten
    },
  }
}

/** Of a session whose host is away the fleet's log is read. */
function reads(fleet: Fleet): Part<'get' | 'waitTurn' | 'turns' | 'turn' | 'output' | 'requests'> {
  const {
    own: { sessions },
    calls,
    owner,
    owners,
    replay,
    view,
  } = fleet
  return {
    async get(id, within) {
      const host = owners.otherShown(id)
      try {
        if (host === undefined) return await sessions.get(id, within)
        if (view.isReachable(host)) return shown(fleet, await calls.to(host).value('sessions.get', [id, within]), host)
      } catch (thrown) {
        if (!isUnreachable(thrown) && !isArriving(fleet, id, thrown)) throw thrown
      }
      const session = copied(fleet, id, within)
      if (session === undefined) throw notFound(id)
      return session
    },
    waitTurn: (id, turn, signal) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.waitTurn', [id, turn], signal),
        inLog: (log) => replay.result(log, turn),
      }),
    turns: (id, query) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.turns', [id, query]),
        inLog: (log) => replay.turns(log, query),
      }),
    turn: (id, turn) =>
      ownerOrLog<TurnDetail | QueuedTurn>(fleet, id, {
        owner: () => owner.read('sessions.turn', [id, turn]),
        inLog: (log) => replay.turn(log, turn),
      }),
    output: (id, lastN) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.output', [id, lastN]),
        inLog: (log) => replay.output(log, lastN),
      }),
    requests: (id) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.requests', [id]),
        inLog: (log) => replay.requests(log),
      }),
  }
}

function logs(fleet: Fleet): Part<'events' | 'follow' | 'followOutput'> {
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

function lists(fleet: Fleet): Part<'list' | 'waiting' | 'watch'> {
  const {
    host: self,
    own: { sessions },
    calls,
    clock,
    owners,
    view,
  } = fleet
  return {
    list: async (filter = {}, within) =>
      owners.isAlone ? sessions.list(filter, within) : listPage(await allSessions(fleet, filter, within), filter),
    async waiting(query = {}, within) {
      if (owners.isAlone) return sessions.waiting(query, within)
      const answer = () => sessions.waiting(query, within)
      const asked = await askAll({ host: self, answer }, owners.others, (host) =>
        inTime(host, calls.to(host).value('sessions.waiting', [query, within]), clock),
      )
      return mergeWaiting(asked, query)
    },
    watch: (within) =>
      mergedWatch({ host: self, view, own: sessions.watch(within), within, shown: (id) => copied(fleet, id, within) }),
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

/** A session of another host from the copy; undefined outside of the bounds. */
function copied(fleet: Fleet, id: string, within: SessionBounds | undefined): Session | undefined {
  const record = fleet.view.session(id)
  if (record === undefined) return undefined
  const isInBounds = isWithinBounds(record.session, within, (other) => fleet.view.session(other)?.session)
  return isInBounds ? shown(fleet, record.session, record.owner) : undefined
}

/** What a call answers of a session, as this host shows it. */
async function shownBy(fleet: Fleet, id: string, call: () => Promise<Session>): Promise<Session> {
  const host = fleet.owners.otherOf(id)
  const session = await call()
  return host === undefined ? session : shown(fleet, session, host)
}

/** As this host shows it: with the name of its host, and `unreachable` when that is not heard from. */
function shown({ view }: Fleet, session: Session, host: string): Session {
  if (view.isReachable(host)) return session.hostId === host ? session : { ...session, hostId: host }
  return { ...session, hostId: host, state: 'unreachable', attachable: false, wakeable: false }
}

/** A session that was taken from a lost host, and is not yet whole at the one that took it. */
const isArriving = ({ view }: Fleet, id: string, thrown: unknown): boolean =>
  isAgentprotoError(thrown) && thrown.code === 'session_not_found' && view.session(id)?.session.state === 'unreachable'

const notFound = (id: string): AgentprotoError =>
  new AgentprotoError('session_not_found', 'There is no such session', {
    given: id,
    hint: 'Run `agentproto sessions` to see the ids',
  })
