import type { Session } from '@agentproto/contracts'
import type { SessionBounds, SessionChange, SessionWatcher } from '@agentproto/contracts/wire'
import type { FleetView } from './fleet-services-options.js'

/** Sessions whose change was not read yet; when there are more, the oldest change is dropped. */
const MAX_PENDING = 20_000

interface MergedWatchOptions {
  readonly host: string
  readonly view: FleetView
  /** Changes of this host's own sessions, within the bounds. */
  readonly own: SessionWatcher
  readonly within: SessionBounds | undefined
  /** The session of another host as this host shows it; undefined outside of the bounds. */
  readonly shown: (id: string) => Session | undefined
}

/** Changes of the sessions of all hosts. A slow reader gets the latest record of each session, not every change. */
export function mergedWatch(options: MergedWatchOptions): SessionWatcher {
  const { own, within } = options
  const copy = options.view.watch()
  const pending = new Map<string, SessionChange>()
  /** With bounds: the sessions of other hosts that were shown, so that no other one is reported as forgotten. */
  const shown = new Set<string>()
  let isOver = false
  let failure: { readonly thrown: unknown } | undefined
  let wake: () => void = () => undefined

  function put(id: string, change: SessionChange): void {
    // Deleted first, so that the newest change is also the last in order.
    pending.delete(id)
    if (pending.size >= MAX_PENDING) for (const oldest of [...pending.keys()].slice(0, 1)) pending.delete(oldest)
    pending.set(id, change)
    wake()
  }

  function putOf(id: string): void {
    const record = options.view.session(id)
    if (record?.owner === options.host) return
    const session = options.shown(id)
    if (session !== undefined) {
      if (within !== undefined) shown.add(id)
      put(id, { type: 'session', session })
    } else if (record === undefined && (within === undefined || shown.delete(id))) put(id, { type: 'forgotten', id })
  }

  async function pumpOwn(): Promise<void> {
    for (let changes = await own.next(); changes !== undefined; changes = await own.next())
      for (const change of changes) put(change.type === 'session' ? change.session.id : change.id, change)
  }

  async function pumpCopy(): Promise<void> {
    for (let ids = await copy.next(); ids !== undefined; ids = await copy.next()) for (const id of ids) putOf(id)
  }

  function end(): void {
    isOver = true
    own.close()
    copy.close()
    wake()
  }
  const fail = (thrown: unknown): void => void (failure = { thrown })
  // Without its own sessions, or without the others, it would be silently incomplete.
  void pumpOwn().catch(fail).finally(end)
  void pumpCopy().catch(fail).finally(end)

  return {
    async next(signal) {
      while (signal?.aborted !== true) {
        if (pending.size > 0) {
          const changes = [...pending.values()]
          pending.clear()
          return changes
        }
        if (failure !== undefined) throw failure.thrown
        if (isOver) return undefined
        await woken((resume) => (wake = resume), signal)
      }
      return undefined
    },
    close: end,
  }
}

function woken(register: (resume: () => void) => void, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const resume = (): void => {
      signal?.removeEventListener('abort', resume)
      resolve()
    }
    register(resume)
    signal?.addEventListener('abort', resume, { once: true })
  })
}
