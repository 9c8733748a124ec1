import { type Principal, toAgentprotoError, traceIdOf } from '@agentproto/contracts'
import type { Services } from '@agentproto/contracts/wire'
import { wrapMethods } from '../wrap-methods.js'
import type { AuditWriter } from './audit-log.js'
import { auditedCall } from './audited-call.js'

/** What is known of a call before it runs. */
export interface Call {
  readonly action: string
  readonly by: Principal | undefined
  readonly session?: string
  readonly about?: Readonly<Record<string, unknown>>
}

/**
 * The same service; each call of an operation with an `action` leaves a line with who called and how it ended, whichever
 * surface it came by.
 */
export function withAudit<S extends keyof Services>(name: S, service: Services[S], log: AuditWriter): Services[S] {
  return wrapMethods(
    service,
    (method, run) =>
      function audited(...args) {
        const call = auditedCall(`${name}.${method}`, args)
        const result = run(...args)
        if (call === undefined) return result
        const isStream = typeof result === 'object' && result !== null && Symbol.asyncIterator in result
        return isStream ? auditStream(log, call, result as AsyncIterable<unknown>) : auditPromise(log, call, result)
      },
  )
}

/** Waits for the work, then writes its line: the code of an error, never its text. */
export async function auditPromise<T>(log: AuditWriter, call: Call, work: T | Promise<T>): Promise<T> {
  try {
    const result = await work
    writeLine(log, call, { outcome: 'ok', session: call.session ?? idOf(result) })
    return result
  } catch (error) {
    writeLine(log, call, { outcome: toAgentprotoError(error).code, session: call.session })
    throw error
  }
}

/** The same for an operation that reports its progress; a reader that stops early ends it as `cancelled`. */
async function* auditStream<T>(log: AuditWriter, call: Call, work: AsyncIterable<T>): AsyncGenerator<T> {
  let outcome = 'cancelled'
  try {
    yield* work
    outcome = 'ok'
  } catch (error) {
    outcome = toAgentprotoError(error).code
    throw error
  } finally {
    writeLine(log, call, { outcome, session: call.session })
  }
}

interface Outcome {
  readonly outcome: string
  readonly session: string | undefined
}

function writeLine(log: AuditWriter, { action, by, about }: Call, { outcome, session }: Outcome): void {
  const principal = by === undefined ? undefined : { type: by.type, name: by.name }
  const traceId = by?.trace && traceIdOf(by.trace)
  log.write({ kind: 'control', principal, action, session, outcome, traceId, ...about })
}

/** The session that an operation created. */
const idOf = (result: unknown): string | undefined =>
  typeof result === 'object' && result !== null && 'id' in result && typeof result.id === 'string'
    ? result.id
    : undefined
