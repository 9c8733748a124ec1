import { AgentprotoError, defined, type Session } from '@agentproto/contracts'
import {
  BOUNDS,
  type ChangeService,
  type PermissionService,
  type SessionArchive,
  type SessionBounds,
  type SessionFilter,
  type SessionService,
  type UsageService,
  type WorktreeService,
} from '@agentproto/contracts/wire'
import { askAll, mergePruned, mergeRules, mergeUsage, mergeWaiting } from './asked-of-all.js'
import { fleetFollow, isUnreachable } from './fleet-follow.js'
import { searchAll } from './fleet-search.js'
import type { FleetServices, FleetServicesOptions } from './fleet-services-options.js'
import { mergedWatch } from './merged-watch.js'
import { Owners } from './owners.js'
import { isWithin } from './session-bounds.js'
import { listPage } from './session-list.js'

interface Fleet extends FleetServicesOptions {
  readonly owners: Owners
}

/**
 * The services of a fleet, of any session on any host. A session of this host is answered by its own services, with nothing between
 * but a look into the copy of the directory; a session of another host by its owner, which also audits the call; lists from the copy.
 * Every call for a session of another host can throw `host_unreachable` with `retryAfter` in seconds.
 */
export function fleetServices(options: FleetServicesOptions): FleetServices {
  const fleet: Fleet = { ...options, owners: new Owners(options) }
  return {
    sessions: sessionsOf(fleet),
    permissions: permissionsOf(fleet),
    archive: archiveOf(fleet),
    usage: usageOf(fleet),
    worktrees: worktreesOf(fleet),
    changes: changesOf(fleet),
  }
}

const sessionsOf = (fleet: Fleet): SessionService => ({
  ...starts(fleet),
  ...acts(fleet),
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
      if (host === self) return sessions.spawn(request, by)
      const session = await calls.value(host, 'sessions.spawn', [request], { by })
      owners.created(session.id, host)
      return session
    },
    async fork(id, request, by) {
      const host = otherOf(id)
      if (host === undefined) return sessions.fork(id, request, by)
      const session = await calls.value(host, 'sessions.fork', [id, request], { by })
      owners.created(session.id, host)
      return shown(fleet, session, host)
    },
  }
}

function acts(
  fleet: Fleet,
): Part<'prompt' | 'resume' | 'configure' | 'rename' | 'interrupt' | 'kill' | 'forget' | 'answer'> {
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
        : calls.value(host, 'sessions.prompt', [id, request], { by })
    },
    async resume(id, request, by) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.resume(id, request, by)
        : shown(fleet, await calls.value(host, 'sessions.resume', [id, request], { by }), host)
    },
    async configure(id, request, by) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.configure(id, request, by)
        : shown(fleet, await calls.value(host, 'sessions.configure', [id, request], { by }), host)
    },
    async rename(id, request, by) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.rename(id, request, by)
        : shown(fleet, await calls.value(host, 'sessions.rename', [id, request], { by }), host)
    },
    async interrupt(id, by, request) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.interrupt(id, by, request)
        : calls.value(host, 'sessions.interrupt', [id, request], { by })
    },
    async kill(id, by, reason) {
      const host = otherOf(id)
      if (host === undefined) return sessions.kill(id, by, reason)
      if (typeof reason === 'object')
        throw new AgentprotoError('forbidden', 'A hook ends only sessions of its own host')
      return calls.value(host, 'sessions.kill', [id, reason], { by })
    },
    async forget(id, by) {
      const host = otherOf(id)
      if (host === undefined) return sessions.forget(id, by)
      const forgotten = await calls.value(host, 'sessions.forget', [id], { by })
      owners.forgotten(id)
      return forgotten
    },
    async answer(which, answer, by) {
      const host = otherOf(which.id)
      return host === undefined
        ? sessions.answer(which, answer, by)
        : calls.value(host, 'sessions.answer', [which, answer], { by })
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
      const host = otherOf(id)
      if (host === undefined) return sessions.get(id, within)
      if (view.isReachable(host)) {
        try {
          return shown(fleet, await calls.value(host, 'sessions.get', [id, within]), host)
        } catch (thrown) {
          if (!isUnreachable(thrown)) throw thrown
        }
      }
      const session = copied(fleet, id, within)
      if (session === undefined) throw notFound(id)
      return session
    },
    async waitTurn(id, turn, signal) {
      const host = otherOf(id)
      return host === undefined
        ? sessions.waitTurn(id, turn, signal)
        : calls.value(host, 'sessions.waitTurn', [id, turn], { signal })
    },
    async turns(id, query) {
      const host = otherOf(id)
      return host === undefined ? sessions.turns(id, query) : calls.value(host, 'sessions.turns', [id, query])
    },
    async turn(id, turn) {
      const host = otherOf(id)
      return host === undefined ? sessions.turn(id, turn) : calls.value(host, 'sessions.turn', [id, turn])
    },
    async output(id, lastN) {
      const host = otherOf(id)
      return host === undefined ? sessions.output(id, lastN) : calls.value(host, 'sessions.output', [id, lastN])
    },
    async requests(id) {
      const host = otherOf(id)
      return host === undefined ? sessions.requests(id) : calls.value(host, 'sessions.requests', [id])
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
        return await calls.value(host, 'sessions.events', [id, after, limit])
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
            return view.isReachable(host) ? calls.reader(host, 'sessions.follow', [id, from]) : undefined
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
        : calls.reader(host, 'sessions.followOutput', [id, cursor])
    },
  }
}

function lists(fleet: Fleet): Part<'list' | 'waiting' | 'watch'> {
  const {
    host: self,
    own: { sessions },
    calls,
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
        calls.value(host, 'sessions.waiting', [query, within]),
      )
      return mergeWaiting(asked, query)
    },
    watch: (within) =>
      mergedWatch({ host: self, view, own: sessions.watch(within), within, shown: (id) => copied(fleet, id, within) }),
  }
}

function permissionsOf({ host: self, own: { permissions }, calls, owners }: Fleet): PermissionService {
  /** Rules of a workspace are those of this host. */
  const otherOf = (scope: Parameters<PermissionService['rules']>[0]): string | undefined =>
    'sessionId' in scope ? owners.otherOf(scope.sessionId) : undefined
  return {
    async rules(scope) {
      const host = otherOf(scope)
      return host === undefined ? permissions.rules(scope) : calls.value(host, 'permissions.rules', [scope])
    },
    async allRules(workspaces) {
      if (owners.isAlone) return permissions.allRules(workspaces)
      const answer = () => permissions.allRules(workspaces)
      // The same slug may be another folder there: of another host only the rules of its sessions are listed.
      const asked = await askAll({ host: self, answer }, owners.others, (host) =>
        calls.value(host, 'permissions.allRules', [[]]),
      )
      return mergeRules(asked)
    },
    async addRule(scope, request, by) {
      const host = otherOf(scope)
      return host === undefined
        ? permissions.addRule(scope, request, by)
        : calls.value(host, 'permissions.addRule', [scope, request], { by })
    },
    async removeRule(scope, ruleId, by) {
      const host = otherOf(scope)
      return host === undefined
        ? permissions.removeRule(scope, ruleId, by)
        : calls.value(host, 'permissions.removeRule', [scope, ruleId], { by })
    },
  }
}

function archiveOf({ host: self, own: { archive }, calls, owners, view }: Fleet): SessionArchive {
  return {
    async search(query, within, signal) {
      if (owners.isAlone) return archive.search(query, within, signal)
      const search: Parameters<typeof searchAll>[0]['search'] = (host, part) =>
        host === self
          ? archive.search(part, within, signal)
          : calls.value(host, 'archive.search', [part, within], { signal })
      const startedAt = (id: string): string => view.session(id)?.session.startedAt ?? ''
      return searchAll({ host: self, others: owners.others, search, startedAt }, query)
    },
    async prune(request, by) {
      if (owners.isAlone) return archive.prune(request, by)
      const answer = () => archive.prune(request, by)
      const asked = await askAll({ host: self, answer }, owners.others, (host) =>
        calls.value(host, 'archive.prune', [request], { by }),
      )
      return mergePruned(asked, request.dryRun ?? false)
    },
    async repair(id, options, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? archive.repair(id, options, by)
        : calls.value(host, 'archive.repair', [id, options], { by })
    },
    async export(id, format) {
      const host = owners.otherOf(id)
      return host === undefined ? archive.export(id, format) : calls.texts(host, [id, format])
    },
    import: (text, by) => archive.import(text, by),
  }
}

function usageOf({ host: self, own: { usage }, calls, owners }: Fleet): UsageService {
  return {
    async report(query, within) {
      const own = await usage.report(query, within)
      if (owners.isAlone) return own
      // The same days everywhere, also when a host has another date.
      const { from, to, by } = own
      const asked = await askAll({ host: self, answer: async () => own }, owners.others, (host) =>
        calls.value(host, 'usage.report', [{ from, to, by }, within]),
      )
      return mergeUsage(asked) ?? own
    },
  }
}

function worktreesOf({ own: { worktrees }, calls, owners }: Fleet): WorktreeService {
  return {
    async merge(id, request, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? worktrees.merge(id, request, by)
        : calls.value(host, 'worktrees.merge', [id, request], { by })
    },
    async discard(id, request, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? worktrees.discard(id, request, by)
        : calls.value(host, 'worktrees.discard', [id, request], { by })
    },
  }
}

function changesOf({ own: { changes }, calls, owners }: Fleet): ChangeService {
  return {
    async list(id, query, signal) {
      const host = owners.otherOf(id)
      return host === undefined
        ? changes.list(id, query, signal)
        : calls.value(host, 'changes.list', [id, query], { signal })
    },
    async diff(id, query, signal) {
      const host = owners.otherOf(id)
      return host === undefined ? changes.diff(id, query, signal) : calls.bytes(host, [id, query], { signal })
    },
    async markReviewed(id, request, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? changes.markReviewed(id, request, by)
        : calls.value(host, 'changes.markReviewed', [id, request], { by })
    },
    async rewind(id, request, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? changes.rewind(id, request, by)
        : calls.value(host, 'changes.rewind', [id, request], { by })
    },
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
  for (const { owner, session } of fleet.view.sessions()) {
    if (owner === fleet.host || !isWithin(session, within, (id) => fleet.view.session(id)?.session)) continue
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

const notFound = (id: string): AgentprotoError =>
  new AgentprotoError('session_not_found', 'There is no such session', {
    given: id,
    hint: 'Run `agentproto sessions` to see the ids',
  })
