import type { TraceContext } from '@agentproto/contracts'
import type { BodyOf, ParamsOf, QueryOf, Route } from '@agentproto/contracts/wire'
// Only types: the table itself has schemas, and a browser bundle must not hold zod.

type QueryValue = string | number | boolean

/** One HTTP request. */
export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the gateway's url, already encoded. */
  readonly path: string
  /** A list repeats its parameter. */
  readonly query?: Readonly<Record<string, QueryValue | readonly string[] | undefined>>
  readonly body?: unknown
  /** A body that is text already, one JSON document a line. */
  readonly text?: string
  /** Whether it may be sent twice, besides what only reads and what has an idempotency key. */
  readonly repeat?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** The trace that the call is part of; default: the client's. */
  readonly trace?: TraceContext | undefined
}

/** What a call of an operation sends. */
export type Asked<R extends Route> = Pick<Call, 'text' | 'repeat' | 'signal' | 'trace'> & {
  readonly query?: Sent<QueryOf<R>>
  readonly body?: Sent<BodyOf<R>>
} & (keyof ParamsOf<R> extends never
    ? { readonly params?: never }
    : { readonly params: { readonly [N in keyof ParamsOf<R>]: string | number } })

/** Callers may pass readonly lists. */
type Sent<T> = T extends readonly (infer Each)[]
  ? readonly Sent<Each>[]
  : T extends object
    ? { readonly [K in keyof T]: Sent<T[K]> }
    : T

/** The HTTP request of an operation, which is named by its route in the table of contracts. */
export function callOf<R extends Route>(route: R, { params, ...asked }: Asked<R>): Call {
  const [method, path] = route.split(' ') as [NonNullable<Call['method']>, string]
  const values: Readonly<Record<string, string | number>> = params ?? {}
  return {
    method,
    path: path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? '')),
    ...(asked as Omit<Call, 'method' | 'path'>),
  }
}
