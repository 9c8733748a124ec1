import type { SharedLog } from '@agentproto/contracts/agent'
import { isUnreachable } from './fleet-follow.js'
import type { FleetServicesOptions } from './fleet-services-options.js'
import type { Owners } from './owners.js'

interface Sources extends Pick<FleetServicesOptions, 'view' | 'log'> {
  readonly owners: Owners
}

/** The two places where a question about a session is answered. */
interface Answers<T> {
  readonly owner: () => Promise<T>
  /** Undefined for what only the owner knows. */
  readonly inLog: (log: SharedLog) => T | undefined | Promise<T | undefined>
}

/** Asks the owner of a session; where that is not heard from, the fleet's log. @throws `host_unreachable` for what is in neither */
export async function ownerOrLog<T>(sources: Sources, id: string, { owner, inLog }: Answers<T>): Promise<T> {
  const host = sources.owners.otherOf(id)
  const log = host === undefined ? undefined : sharedLog(sources, id)
  if (host === undefined || log === undefined) return owner()
  if (!sources.view.isReachable(host)) return (await inLog(log)) ?? (await owner())
  try {
    return await owner()
  } catch (thrown) {
    const answer = isUnreachable(thrown) ? await inLog(log) : undefined
    if (answer === undefined) throw thrown
    return answer
  }
}

/** The log of a session that the directory knows. */
export function sharedLog({ view, log }: Pick<Sources, 'view' | 'log'>, id: string): SharedLog | undefined {
  const record = view.session(id)
  return (
    record && {
      session: record.session,
      epoch: record.epoch,
      lastSeq: () => log.lastSeq(id),
      batches: (after) => log.batches(id, after),
      follow: (after) => log.follow(id, after),
    }
  )
}
