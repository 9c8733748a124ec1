import type { Principal } from '@agentproto/contracts'
import { parseWire, type Reader } from '@agentproto/contracts/wire'
import type * as z from 'zod'
import type { Check } from './carried-values.js'
import type { SharedServices } from './places.js'

/** For whom a call is answered, until when, and the text that it reads. */
export interface Incoming {
  readonly by: Principal
  readonly signal: AbortSignal
  readonly text: AsyncIterable<string>
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

/** A method that answers once. */
export interface ValueMethod<A, R> extends Carried<A> {
  readonly kind: 'value'
  readonly result: Check<R>
}

/** A method that answers with a reader. */
export interface ReaderMethod<A, T> extends Carried<A> {
  readonly kind: 'reader'
  readonly item: Check<T>
}

/** A method that answers with texts or bytes, piece by piece. */
export interface PiecesMethod<A> extends Carried<A> {
  readonly kind: 'pieces'
}

type Run<A, C, R> = (own: SharedServices, args: A, call: C) => Promise<R>

const value = <A, R>(
  principal: boolean,
  { args, result, run }: { args: z.ZodType<A>; result: Check<R>; run: Run<A, Incoming, R> },
): ValueMethod<A, R> => ({
  kind: 'value',
  principal,
  args,
  result,
  answer: async (own, given, call) => ({ value: await run(own, parsed(args, given), call) }),
})

export const read = <A, R>(
  args: z.ZodType<A>,
  result: Check<R>,
  run: Run<A, Pick<Incoming, 'signal'>, R>,
): ValueMethod<A, R> => value(false, { args, result, run })

export const act = <A, R>(args: z.ZodType<A>, result: Check<R>, run: Run<A, Incoming, R>): ValueMethod<A, R> =>
  value(true, { args, result, run })

export const reader = <A, T>(
  args: z.ZodType<A>,
  item: Check<T>,
  run: Run<A, Pick<Incoming, 'signal'>, Reader<T>>,
): ReaderMethod<A, T> => ({
  kind: 'reader',
  principal: false,
  args,
  item,
  answer: async (own, given, call) => ({ reader: await run(own, parsed(args, given), call) }),
})

export const pieces = <A>(
  args: z.ZodType<A>,
  run: Run<A, Pick<Incoming, 'signal'>, AsyncIterable<string | Uint8Array>>,
): PiecesMethod<A> => ({
  kind: 'pieces',
  principal: false,
  args,
  answer: async (own, given, call) => ({ pieces: await run(own, parsed(args, given), call) }),
})

const parsed = <A>(args: z.ZodType<A>, given: readonly unknown[]): A => parseWire(args, given, 'arguments')
