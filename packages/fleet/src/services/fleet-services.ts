import type {
  ChangeService,
  PermissionService,
  SessionArchive,
  UsageService,
  WorktreeService,
} from '@agentproto/contracts/wire'
import { askAll, inTime, mergePruned, mergeRules, mergeUsage } from './asked-of-all.js'
import { searchAll } from './fleet-search.js'
import type { FleetServices, FleetServicesOptions } from './fleet-services-options.js'
import { Owners } from './owners.js'
import { type Fleet, sessionsOf } from './fleet-sessions.js'

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

function permissionsOf({ host: self, own: { permissions }, calls, clock, owners }: Fleet): PermissionService {
  /** Rules of a workspace are those of this host. */
  const otherOf = (scope: Parameters<PermissionService['rules']>[0]): string | undefined =>
    'sessionId' in scope ? owners.otherOf(scope.sessionId) : undefined
  return {
    async rules(scope) {
      const host = otherOf(scope)
      return host === undefined ? permissions.rules(scope) : calls.to(host).value('permissions.rules', [scope])
    },
    async allRules(workspaces) {
      if (owners.isAlone) return permissions.allRules(workspaces)
      const answer = () => permissions.allRules(workspaces)
      // The same slug may be another folder there: of another host only the rules of its sessions are listed.
      const asked = await askAll({ host: self, answer }, owners.others, (host) =>
        inTime(host, calls.to(host).value('permissions.allRules', [[]]), clock),
      )
      return mergeRules(asked)
    },
    async addRule(scope, request, by) {
      const host = otherOf(scope)
      return host === undefined
        ? permissions.addRule(scope, request, by)
        : calls.to(host).value('permissions.addRule', [scope, request], { by })
    },
    async removeRule(scope, ruleId, by) {
      const host = otherOf(scope)
      return host === undefined
        ? permissions.removeRule(scope, ruleId, by)
        : calls.to(host).value('permissions.removeRule', [scope, ruleId], { by })
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
          : calls.to(host).value('archive.search', [part, within], { signal })
      const startedAt = (id: string): string => view.session(id)?.session.startedAt ?? ''
      return searchAll({ host: self, others: owners.others, search, startedAt }, query)
    },
    async prune(request, by) {
      if (owners.isAlone) return archive.prune(request, by)
      const answer = () => archive.prune(request, by)
      const asked = await askAll({ host: self, answer }, owners.others, (host) =>
        calls.to(host).value('archive.prune', [request], { by }),
      )
      return mergePruned(asked, request.dryRun ?? false)
    },
    async repair(id, options, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? archive.repair(id, options, by)
        : calls.to(host).value('archive.repair', [id, options], { by })
    },
    async export(id, format) {
      const host = owners.otherOf(id)
      return host === undefined ? archive.export(id, format) : calls.to(host).texts([id, format])
    },
    import: (text, by) => archive.import(text, by),
  }
}

function usageOf({ host: self, own: { usage }, calls, clock, owners }: Fleet): UsageService {
  return {
    async report(query, within) {
      const own = await usage.report(query, within)
      if (owners.isAlone) return own
      // The same days everywhere, also when a host has another date.
      const { from, to, by } = own
      const asked = await askAll({ host: self, answer: async () => own }, owners.others, (host) =>
        inTime(host, calls.to(host).value('usage.report', [{ from, to, by }, within]), clock),
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
        : calls.to(host).value('worktrees.merge', [id, request], { by })
    },
    async discard(id, request, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? worktrees.discard(id, request, by)
        : calls.to(host).value('worktrees.discard', [id, request], { by })
    },
  }
}

function changesOf({ own: { changes }, calls, owners }: Fleet): ChangeService {
  return {
    async list(id, query, signal) {
      const host = owners.otherOf(id)
      return host === undefined
        ? changes.list(id, query, signal)
        : calls.to(host).value('changes.list', [id, query], { signal })
    },
    async diff(id, query, signal) {
      const host = owners.otherOf(id)
      return host === undefined ? changes.diff(id, query, signal) : calls.to(host).bytes([id, query], { signal })
    },
    async markReviewed(id, request, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? changes.markReviewed(id, request, by)
        : calls.to(host).value('changes.markReviewed', [id, request], { by })
    },
    async rewind(id, request, by) {
      const host = owners.otherOf(id)
      return host === undefined
        ? changes.rewind(id, request, by)
        : calls.to(host).value('changes.rewind', [id, request], { by })
    },
  }
}
