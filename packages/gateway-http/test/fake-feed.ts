import type { Session } from '@agentproto/contracts'
import type { SessionBounds, SessionChange, SessionWatcher } from '@agentproto/contracts/wire'

/** The changes of all sessions, for one watcher after the other. */
export class FakeFeed {
  /** Watchers that are open. */
  watchers = 0
  #changes: SessionChange[] = []
  #wake = (): void => {}

  push(change: SessionChange): void {
    this.#changes.push(change)
    this.#wake()
  }

  watch(within?: SessionBounds): SessionWatcher {
    this.watchers++
    return {
      next: async (signal) => {
        if (this.#changes.length === 0) {
          await new Promise<void>((wake) => {
            this.#wake = wake
            signal?.addEventListener('abort', () => wake())
          })
        }
        const reached = (change: SessionChange): boolean => change.type !== 'session' || reaches(change.session, within)
        return this.#changes.splice(0).filter(reached)
      },
      close: () => void this.watchers--,
    }
  }
}

/** Enough of bounds for one generation. */
export function reaches(session: Session, bounds: SessionBounds | undefined): boolean {
  const { workspaces, under, itself } = bounds ?? {}
  if (workspaces !== undefined && !workspaces.includes(session.workspaceSlug)) return false
  return under === undefined || session.parentSessionId === under || (itself === true && session.id === under)
}
