import type { PermissionService } from '@agentproto/contracts/wire'
import type { SessionCache } from '../session-cache.js'
import type { SessionHost } from '../session-host.js'
import type { SessionHandle } from '../session/session-handle.js'
import { ruleOf } from './rule-book.js'
import { matchOf } from './rule-making.js'

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

/** A new rule may answer pending requests of any session. */
export async function reviewAll(sessions: Iterable<SessionHandle>): Promise<void> {
  await Promise.all(Array.from(sessions, (session) => session.review()))
}
