import { type Principal, toAgentprotoError, traceIdOf } from '@agentproto/contracts'
import { wrapMethods } from '../wrap-methods.js'
import type { AuditWriter } from './audit-log.js'

/** What is known of an operation before it runs. */
export interface AuditedCall {
  readonly action: string
  readonly by: Principal | undefined
  readonly session?: string
  readonly about?: Readonly<Record<string, unknown>>
}

/** For each audited method of a service: what its arguments say. A method without a row is not audited. */
export type AuditRows<S> = {
  readonly [M in keyof S]?: S[M] extends (...args: infer A) => unknown ? (...args: A) => AuditedCall : never
}

/** The same service; each call of a method that has a row leaves a line with who called and how it ended. */
export function withAudit<S extends object>(service: S, rows: AuditRows<S>, log: AuditWriter): S {
  return wrapMethods(service, (name, method) => {
    const describe = (rows as Record<PropertyKey, ((...args: unknown[]) => AuditedCall) | undefined>)[name]
    if (describe === undefined) return method
    return function auditedCall(...args) {
      const call = describe(...args)
      const result = method(...args)
      return isAsyncIterable(result) ? auditStream(log, call, result) : auditPromise(log, call, result)
    }
  })
}

/** Runs the work, then writes its line: the code of an error, never its text. */
export async function auditPromise<T>(log: AuditWriter, call: AuditedCall, work: T | Promise<T>): Promise<T> {
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
async function* auditStream<T>(log: AuditWriter, call: AuditedCall, work: AsyncIterable<T>): AsyncGenerator<T> {
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

function writeLine(log: AuditWriter, { action, by, about }: AuditedCall, { outcome, session }: Outcome): void {
  const principal = by === undefined ? undefined : { type: by.type, name: by.name }
  const traceId = by?.trace && traceIdOf(by.trace)
  log.write({ kind: 'control', principal, action, session, outcome, traceId, ...about })
}

/** The session that an operation created. */
const idOf = (result: unknown): string | undefined =>
  typeof result === 'object' && result !== null && 'id' in result && typeof result.id === 'string'
    ? result.id
    : undefined

const isAsyncIterable = (result: unknown): result is AsyncIterable<unknown> =>
  typeof result === 'object' && result !== null && Symbol.asyncIterator in result
