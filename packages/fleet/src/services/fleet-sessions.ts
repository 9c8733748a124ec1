import { AgentprotoError, defined, isAgentprotoError, type Session } from '@agentproto/contracts'
import { BOUNDS, type SessionBounds, type SessionFilter, type SessionService } from '@agentproto/contracts/wire'
import { askAll, inTime, mergeWaiting } from './asked-of-all.js'
import { fleetFollow, isUnreachable } from './fleet-follow.js'
import type { FleetServicesOptions } from './fleet-services-options.js'
import { mergedWatch } from './merged-watch.js'
import type { Owners } from './owners.js'
import { isWithin } from './session-bounds.js'
import { listPage } from './session-list.js'

/** What the services of a fleet share. */
export interface Fleet extends FleetServicesOptions {
  readonly owners: Owners
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
  const otherOf = (id: string): string | undefined => owners.otherOf(id)
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
      const host = otherOf(id)
      if (host === undefined) return sessions.fork(id, request, by)
      const session = await calls.to(host).value('sessions.fork', [id, request], { by })
      owners.created(session.id, host)
      return shown(fleet, session, host)
    },
  }
}

function acts(fleet: Fleet): Part<'prompt' | 'resume' | 'configure' | 'rename' | 'interrupt' | 'answer'> {
  const {
    own: { sessions },
    calls,
    owners,
  } = fleet
  const otherOf = (id: string): string | undefined => owners.otherOf(id)
  return {
    async prompt(id, request, by) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.prompt(id, request, by)
        : calls.to(host).value('sessions.prompt', [id, request], { by })
    },
    async resume(id, request, by) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.resume(id, request, by)
        : shown(fleet, await calls.to(host).value('sessions.resume', [id, request], { by }), host)
    },
    async configure(id, request, by) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.configure(id, request, by)
        : shown(fleet, await calls.to(host).value('sessions.configure', [id, request], { by }), host)
    },
    async rename(id, request, by) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.rename(id, request, by)
        : shown(fleet, await calls.to(host).value('sessions.rename', [id, request], { by }), host)
    },
    async interrupt(id, by, request) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.interrupt(id, by, request)
        : calls.to(host).value('sessions.interrupt', [id, request], { by })
    },
    async answer(which, answer, by) {
      const host = otherOf(which.id)
      return host === undefined
        ? sessions.answer(which, answer, by)
        : calls.to(host).value('sessions.answer', [which, answer], { by })
    },
  }
}

function ends({ own: { sessions }, calls, owners }: Fleet): Part<'kill' | 'forget'> {
  const otherOf = (id: string): string | undefined => owners.otherOf(id)
  return {
    async kill(id, by, reason) {
      const host = otherOf(id)
      if (host === undefined) return sessions.kill(id, by, reason)
      if (typeof reason === 'object')
        throw new AgentprotoError('forbidden', 'A hook ends only sessions of its own host')
      return calls.to(host).value('sessions.kill', [id, reason], { by })
    },
    async forget(id, by) {
      const host = otherOf(id)
      if (host === undefined) return sessions.forget(id, by)
      const forgotten = await calls.to(host).value('sessions.forget', [id], { by })
      owners.forgotten(id)
      return forgotten
    },
  }
}

function reads(fleet: Fleet): Part<'get' | 'waitTurn' | 'turns' | 'turn' | 'output' | 'requests'> {
  const {
    own: { sessions },
    calls,
    owners,
    view,
  } = fleet
  const otherOf = (id: string): string | undefined => owners.otherOf(id)
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
    async waitTurn(id, turn, signal) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.waitTurn(id, turn, signal)
        : calls.to(host).value('sessions.waitTurn', [id, turn], { signal })
    },
    async turns(id, query) {
      const host = otherOf(id)
      return host === undefined ? sessions.turns(id, query) : calls.to(host).value('sessions.turns', [id, query])
    },
    async turn(id, turn) {
      const host = otherOf(id)
      return host === undefined ? sessions.turn(id, turn) : calls.to(host).value('sessions.turn', [id, turn])
    },
    async output(id, lastN) {
      const host = otherOf(id)
      return host === undefined ? sessions.output(id, lastN) : calls.to(host).value('sessions.output', [id, lastN])
    },
    async requests(id) {
      const host = otherOf(id)
      return host === undefined ? sessions.requests(id) : calls.to(host).value('sessions.requests', [id])
    },
  }
}

/** Of a session whose host is away the fleet's log is read. */
function logs(fleet: Fleet): Part<'events' | 'follow' | 'followOutput'> {
  const {
    own: { sessions },
    calls,
    owners,
    view,
    log,
  } = fleet
  const otherOf = (id: string): string | undefined => owners.otherOf(id)
  return {
    async events(id, after, limit) {
      const host = otherOf(id)
      if (host === undefined) return sessions.events(id, after, limit)
      if (!view.isReachable(host)) return log.read(id, after, limit)
      try {
        return await calls.to(host).value('sessions.events', [id, after, limit])
      } catch (thrown) {
        if (isUnreachable(thrown)) return log.read(id, after, limit)
        throw thrown
      }
    },
    async follow(id, after) {
      if (otherOf(id) === undefined) return sessions.follow(id, after)
      return fleetFollow(
        {
          async atOwner(from) {
            const host = otherOf(id)
            if (host === undefined) return sessions.follow(id, from)
            return view.isReachable(host) ? calls.to(host).reader('sessions.follow', [id, from]) : undefined
          },
          inLog: (from) => log.follow(id, from),
        },
        after,
      )
    },
    async followOutput(id, cursor) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.followOutput(id, cursor)
        : calls.to(host).reader('sessions.followOutput', [id, cursor])
    },
  }
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
    if (isHere || !isWithin(session, within, (id) => fleet.view.session(id)?.session)) continue
    sessions.push(shown(fleet, session, owner))
  }
  return sessions
}

/** A session of another host from the copy; undefined outside of the bounds. */
function copied(fleet: Fleet, id: string, within: SessionBounds | undefined): Session | undefined {
  const record = fleet.view.session(id)
  if (record === undefined) return undefined
  const isInBounds = isWithin(record.session, within, (other) => fleet.view.session(other)?.session)
  return isInBounds ? shown(fleet, record.session, record.owner) : undefined
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
