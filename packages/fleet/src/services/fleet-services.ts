import type {
  ChangeService,
  PermissionService,
  SessionArchive,
  UsageService,
  WorktreeService,
} from '@agentproto/contracts/wire'
import { askAll, askForList, mergePruned, mergeRules, mergeUsage } from './asked-of-all.js'
import type { Fleet } from './fleet.js'
import { searchAll } from './fleet-search.js'
import type { FleetServices, FleetServicesOptions } from './fleet-services-options.js'
import { OwnerCalls } from './owner-calls.js'
import { ownerOrLog } from './owner-or-log.js'
import { Owners } from './owners.js'
import { sessionsOf } from './fleet-sessions.js'
import { NOT_KNOWN } from './fleet-ids.js'

/**
 * The services of a fleet, of any session on any host. A session of this host is answered by its own services, with nothing between
 * but a look into the copy of the directory; a session of another host by its owner, which also audits the call; lists from the copy.
 * Every call for a session of another host can throw `host_unreachable` with `retryAfter` in seconds.
 */
export function fleetServices(options: FleetServicesOptions): FleetServices {
  const owners = new Owners(options)
  const fleet: Fleet = { ...options, owners, owner: new OwnerCalls({ ...options, owners }) }
  return {
    sessions: sessionsOf(fleet),
    permissions: permissionsOf(fleet),
    archive: archiveOf(fleet),
    usage: usageOf(fleet),
    worktrees: worktreesOf(fleet),
    changes: changesOf(fleet),
    hostOf: (id) => owners.otherShown(id),
  }
}

/** Rules of a workspace are those of this host. */
function permissionsOf(fleet: Fleet): PermissionService {
  const {
    own: { permissions },
    owner,
    owners,
  } = fleet
  return {
    rules: (scope) => owner.read('permissions.rules', [scope]),
    async allRules(workspaces) {
      if (owners.isAlone) return permissions.allRules(workspaces)
      // The same slug may be another folder there: of another host only the rules of its sessions are listed.
      const asked = await askForList(
        fleet,
        () => permissions.allRules(workspaces),
        (other) => other.value('permissions.allRules', [[]]),
      )
      return mergeRules(asked)
    },
    addRule: (scope, request, by) => owner.act('permissions.addRule', [scope, request], by),
    removeRule: (scope, ruleId, by) => owner.act('permissions.removeRule', [scope, ruleId], by),
  }
}

function archiveOf(fleet: Fleet): SessionArchive {
  const { host: self, own, calls, owner, owners, replay, view, ids = NOT_KNOWN } = fleet
  const { archive } = own
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
        calls.to(host).value('archive.prune', [request], { by, signal: fleet.endOf?.(by) }),
      )
      return mergePruned(asked, request.dryRun ?? false)
    },
    repair: (id, options, by) => owner.act('archive.repair', [id, options], by),
    export: (id, format) =>
      ownerOrLog(fleet, id, { owner: () => owner.texts([id, format]), inLog: (log) => replay.export(log, format) }),
    import: (text, by) => archive.import(text, by, ids),
  }
}

function usageOf(fleet: Fleet): UsageService {
  const {
    own: { usage },
    owners,
  } = fleet
  return {
    async report(query, within) {
      const own = await usage.report(query, within)
      if (owners.isAlone) return own
      // The same days everywhere, also when a host has another date.
      const { from, to, by } = own
      const asked = await askForList(
        fleet,
        async () => own,
        (other) => other.value('usage.report', [{ from, to, by }, within]),
      )
      return mergeUsage(asked) ?? own
    },
  }
}

const worktreesOf = ({ owner }: Fleet): WorktreeService => ({
  merge: (id, request, by) => owner.act('worktrees.merge', [id, request], by),
  discard: (id, request, by) => owner.act('worktrees.discard', [id, request], by),
})

const changesOf = ({ owner }: Fleet): ChangeService => ({
  list: (id, query, signal) => owner.read('changes.list', [id, query], signal),
  diff: (id, query, signal) => owner.bytes([id, query], signal),
  markReviewed: (id, request, by) => owner.act('changes.markReviewed', [id, request], by),
  rewind: (id, request, by) => owner.act('changes.rewind', [id, request], by),
})
