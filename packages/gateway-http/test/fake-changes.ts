import type { ChangeService } from '@agentproto/contracts/wire'
import type { FakeSessions } from './fake-sessions.ts'

const AT = '2026-11-21T00:00:00.000Z'

/** Every session has changed one file. */
export function fakeChanges(sessions: FakeSessions): ChangeService {
  return {
    async list(id, { turn } = {}) {
      await sessions.get(id)
      const to = turn === undefined ? { at: AT } : { checkpoint: 'c2', turn, at: AT }
      return {
        from: { checkpoint: 'c1', at: AT },
        to,
        files: [{ path: 'a.txt', status: 'added', additions: 1, deletions: 0, binary: false }],
        totals: { files: 1, additions: 1, deletions: 0 },
        shared: false,
        leftOut: [],
      }
    },
    async diff(id) {
      await sessions.get(id)
      return patch()
    },
    async markReviewed(id) {
      await sessions.get(id)
      return { at: AT, checkpoint: 'c1' }
    },
    async rewind(id, { dryRun = false }) {
      await sessions.get(id)
      const changed = [{ path: 'a.txt', status: 'deleted' as const }]
      return { dryRun, to: { checkpoint: 'c1', at: AT }, changed, changedCount: 1, kept: [] }
    },
  }
}

async function* patch(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode('diff --git a/a.txt b/a.txt\n')
}
