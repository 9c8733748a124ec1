import type { HttpDeps } from '../http-deps.js'
import type { Handlers } from '../route.js'

/** What is done at last with the worktrees of sessions. A client that disconnects stops neither. */
export function worktreeHandlers(deps: HttpDeps) {
  const { worktrees } = deps as Required<HttpDeps>
  return {
    async 'POST /sessions/:id/worktree/merge'({ params: { id }, body, by }) {
      return { ok: true, id, ...(await worktrees.merge(id, body, by)) }
    },
    async 'POST /sessions/:id/worktree/discard'({ params: { id }, body, by }) {
      await worktrees.discard(id, body, by)
      return { ok: true, id }
    },
  } satisfies Partial<Handlers>
}
