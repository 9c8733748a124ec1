import type { Clock, Principal } from '@agentproto/contracts'
import { parseWire, type Reader } from '@agentproto/contracts/wire'
import type * as z from 'zod'
import type { Check } from './carried-values.js'
import type { SharedServices } from './places.js'

/** Until when a call is answered. */
export interface Reading {
  readonly signal?: AbortSignal | undefined
}

/** For whom a call changes something. */
export interface Acting extends Reading {
  readonly by: Principal
}

/** A call of another host, with the text that it reads. */
export interface Incoming extends Acting {
  readonly text: AsyncIterable<string>
  readonly clock: Clock
}

/** What a method answers with. */
export type Started =
  | { readonly value: unknown }
  | { readonly reader: Reader<unknown> }
  | { readonly pieces: AsyncIterable<string | Uint8Array> }

interface Carried<A> {
  /** The arguments, without principal and signal; an absent one is null. */
  readonly args: z.ZodType<A>
  /** Whether the call has a principal: one without it is a read, which may be done again. */
  readonly principal: boolean
  /** Parses the arguments, then calls this host's own service. @throws `invalid_request`, and what the service throws */
  readonly answer: (own: SharedServices, given: readonly unknown[], call: Incoming) => Promise<Started>
}

/** Calls the service of this host. */
type Run<A, C, R> = (own: SharedServices, args: A, call: C) => Promise<R>

/** A method that answers once. */
export interface ValueMethod<A, R> extends Carried<A> {
  readonly kind: 'value'
  readonly result: Check<R>
}

export interface ReadMethod<A, R> extends ValueMethod<A, R> {
  readonly principal: false
  readonly run: Run<A, Reading, R>
}

/** @template C What it needs of its call */
export interface ActMethod<A, R, C = Acting> extends ValueMethod<A, R> {
  readonly principal: true
  readonly run: Run<A, C, R>
}

/** A method that answers with a reader. */
export interface ReaderMethod<A, T> extends Carried<A> {
  readonly kind: 'reader'
  readonly item: Check<T>
  readonly run: Run<A, Reading, Reader<T>>
}

/** A method that answers with texts or bytes, piece by piece. */
export interface PiecesMethod<A, P> extends Carried<A> {
  readonly kind: 'pieces'
  readonly run: Run<A, Reading, AsyncIterable<P>>
}

export const read = <A, R>(args: z.ZodType<A>, result: Check<R>, run: Run<A, Reading, R>): ReadMethod<A, R> => ({
  kind: 'value',
  principal: false,
  args,
  result,
  run,
  answer: async (own, given, call) => ({ value: await run(own, parsed(args, given), call) }),
})

export const act = <A, R>(args: z.ZodType<A>, result: Check<R>, run: Run<A, Acting, R>): ActMethod<A, R> =>
  acting(args, result, { run, answer: run })

/** As {@link act}, for a method that answers another host with more than a caller at this one. */
export const actWithAnswer = <A, R>(args: z.ZodType<A>, result: Check<R>, by: Ways<A, Acting, R>): ActMethod<A, R> =>
  acting(args, result, by)

/** As {@link act}, for a method that reads the text of the call. */
export const fed = <A, R>(args: z.ZodType<A>, result: Check<R>, run: Run<A, Incoming, R>): ActMethod<A, R, Incoming> =>
  acting(args, result, { run, answer: run })

interface Ways<A, C, R> {
  readonly run: Run<A, C, R>
  readonly answer: Run<A, Incoming, R>
}

const acting = <A, R, C>(args: z.ZodType<A>, result: Check<R>, { run, answer }: Ways<A, C, R>): ActMethod<A, R, C> => ({
  kind: 'value',
  principal: true,
  args,
  result,
  run,
  answer: async (own, given, call) => ({ value: await answer(own, parsed(args, given), call) }),
})

export const reader = <A, T>(
  args: z.ZodType<A>,
  item: Check<T>,
  run: Run<A, Reading, Reader<T>>,
): ReaderMethod<A, T> => ({
  kind: 'reader',
  principal: false,
  args,
  item,
  run,
  answer: async (own, given, call) => ({ reader: await run(own, parsed(args, given), call) }),
})

export const pieces = <A, P extends string | Uint8Array>(
  args: z.ZodType<A>,
  run: Run<A, Reading, AsyncIterable<P>>,
): PiecesMethod<A, P> => ({
  kind: 'pieces',
  principal: false,
  args,
  run,
  answer: async (own, given, call) => ({ pieces: await run(own, parsed(args, given), call) }),
})

const parsed = <A>(args: z.ZodType<A>, given: readonly unknown[]): A => parseWire(args, given, 'arguments')
