import type { PermissionService, PlacedRule } from '@agentproto/contracts/wire'
import { messageOf } from '../lifecycle/ending.js'
import type { SessionCache } from '../session-cache.js'
import type { SessionHost } from '../session-host.js'
import type { SessionHandle } from '../session/session-handle.js'
import { MAX_LISTED_RULES, ruleOf } from './rule-book.js'
import { matchOf } from './rule-making.js'
import type { WorkspaceRules } from './workspace-rules.js'

export interface PermissionServiceOptions extends Pick<SessionHost, 'workspaceRules' | 'clock' | 'newId' | 'keep'> {
  readonly sessions: SessionCache
}

/** The permission rules of a registry's sessions and workspaces. */
export function permissionService(options: PermissionServiceOptions): PermissionService {
  const { sessions, workspaceRules, keep } = options
  return {
    async rules(scope) {
      if ('sessionId' in scope) return sessions.get(scope.sessionId).permissions.all()
      return workspaceRules.list(scope.workspaceSlug)
    },
    async allRules(workspaces) {
      const read = await Promise.all(workspaces.map((slug) => readRules(slug, workspaceRules)))
      const ofSessions = sessions.ownRules().map(({ sessionId, rule }) => ({ ...rule, sessionId }))
      const rules = [...read.flatMap((each) => each.rules), ...ofSessions]
      const unread = read.flatMap(({ problem, slug }) =>
        problem === undefined ? [] : [{ workspaceSlug: slug, problem }],
      )
      return {
        rules: rules.slice(0, MAX_LISTED_RULES),
        ...(rules.length > MAX_LISTED_RULES && { omitted: rules.length - MAX_LISTED_RULES }),
        ...(unread.length > 0 && { unread }),
      }
    },
    async addRule(scope, request, { name: createdBy }) {
      const { decision, lifetime = 'session' } = request
      if ('sessionId' in scope) {
        const session = sessions.get(scope.sessionId)
        const match = await matchOf(request, session.permissions.cwd)
        const rule = await session.permissions.add({ decision, lifetime, match, createdBy })
        await reviewAll(sessions.live)
        await keep(session)
        return rule
      }
      const match = await matchOf(request, await workspaceRules.folder(scope.workspaceSlug))
      const draft = ruleOf({ decision, lifetime: 'workspace', match, createdBy }, options)
      const rule = await workspaceRules.add(scope.workspaceSlug, draft)
      await reviewAll(sessions.live)
      return rule
    },
    async removeRule(scope, ruleId) {
      if (!('sessionId' in scope)) return workspaceRules.remove(scope.workspaceSlug, ruleId)
      const session = sessions.get(scope.sessionId)
      session.permissions.remove(ruleId)
      await keep(session)
    },
  }
}

interface ReadRules {
  readonly slug: string
  readonly rules: readonly PlacedRule[]
  /** Why they could not be read. */
  readonly problem?: string
}

async function readRules(slug: string, workspaceRules: WorkspaceRules): Promise<ReadRules> {
  try {
    return { slug, rules: (await workspaceRules.list(slug)).map((rule) => ({ ...rule, workspaceSlug: slug })) }
  } catch (thrown) {
    return { slug, rules: [], problem: messageOf(thrown) }
  }
}

/** A new rule may answer pending requests of any session. */
export async function reviewAll(sessions: Iterable<SessionHandle>): Promise<void> {
  await Promise.all(Array.from(sessions, (session) => session.review()))
}
