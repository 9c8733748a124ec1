import { type Principal, toAgentprotoError, traceIdOf } from '@agentproto/contracts'
import type { AuditLog } from './audit-log.js'

export type Log = Pick<AuditLog, 'write'>

/** What is known of an action before it is done. */
export interface Action<T = unknown> {
  readonly action: string
  readonly by: Principal | undefined
  readonly session?: string | undefined
  readonly about?: Readonly<Record<string, unknown>>
  /** The session that it made. */
  readonly made?: (done: T) => string
}

/** Does it, and writes who did it and how it ended: the code of an error, never its words. */
export async function noted<T>(log: Log, what: Action<T>, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work()
    note(log, what, { outcome: 'ok', session: what.made?.(done) ?? what.session })
    return done
  } catch (thrown) {
    note(log, what, { outcome: toAgentprotoError(thrown).code, session: what.session })
    throw thrown
  }
}

/** The same of work that tells of itself as it goes; who stops listening ends it, as `cancelled`. */
export async function* notedAll<T>(log: Log, what: Action, work: () => AsyncIterable<T>): AsyncGenerator<T> {
  let outcome = 'cancelled'
  try {
    yield* work()
    outcome = 'ok'
  } catch (thrown) {
    outcome = toAgentprotoError(thrown).code
    throw thrown
  } finally {
    note(log, what, { outcome, session: what.session })
  }
}

interface Outcome {
  readonly outcome: string
  readonly session: string | undefined
}

function note<T>(log: Log, { action, by, about }: Action<T>, { outcome, session }: Outcome): void {
  const principal = by === undefined ? undefined : { type: by.type, name: by.name }
  const traceId = by?.trace && traceIdOf(by.trace)
  log.write({ kind: 'control', principal, action, session, outcome, traceId, ...about })
}
