import { defined, type Json } from '@agentproto/contracts'
import * as z from 'zod'

// The messages between two hosts. Each has a number, each answer names the message that it answers, and both name the runs of the
// two gateways: nothing that was sent to an earlier run is taken for this one. Every message may be sent again, with another number:
// a call is known by its id, so that it runs once.

/** How long a message is valid, in milliseconds. */
export const VALID_MS = 30_000
/** How far the clocks of two hosts may differ, in milliseconds: a message from a clock that is further off is refused. */
export const CLOCK_DIFFERENCE_MS = 30_000
/** A call is begun within this time after its caller made it, in milliseconds, or never. */
export const BEGIN_WITHIN_MS = 60_000
/** A host that has not finished a call says so this often, in milliseconds. */
export const KEEP_ALIVE_MS = 5_000
/** A peer names the readers that it has open this often, in milliseconds; readers that are not named are closed. */
export const READERS_ALIVE_MS = 10_000
/** Of the arguments of one call, in bytes. */
export const MAX_ARGUMENT_BYTES = 32 * 1024 * 1024
/** Of the result of one call, or of one read of a reader, in bytes. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024
/** Acknowledged calls of one message. */
export const MAX_ACKS = 64

const host = z.string().min(1).max(128)
const run = z.string().max(64)
const id = z.string().min(1).max(64)
const index = z.int().min(0)
const envelope = {
  from: host,
  to: host,
  /** The run of the sender, and the run that it takes the receiver for; empty if it does not know it. */
  run: run.min(1),
  toRun: run,
  /** Of the message: greater with each message of the run to the same host. */
  n: z.int().min(1),
  /** Milliseconds since the epoch. */
  expires: z.int(),
}
const request = {
  ...envelope,
  /** Calls whose results have arrived: they are forgotten. */
  acks: z.array(id).max(MAX_ACKS).optional(),
}

export const requestSchema = z.discriminatedUnion('kind', [
  /** Begins a call, or asks again for it. Its arguments are the body, or were put before, in parts. */
  z.strictObject({
    ...request,
    kind: z.literal('call'),
    id,
    method: z.string().max(100),
    begun: z.int(),
    parts: index,
  }),
  /** A part of the arguments of a call. */
  z.strictObject({ ...request, kind: z.literal('put'), id, at: index, of: index }),
  /** Waits for the result of a call, or of the read `seq` of the reader that it opened. */
  z.strictObject({ ...request, kind: z.literal('wait'), id, seq: index }),
  /** A part of such a result. */
  z.strictObject({ ...request, kind: z.literal('part'), id, seq: index, at: index }),
  /** Reads the next of a reader; `seq` is one more than that of the last read. */
  z.strictObject({ ...request, kind: z.literal('next'), id, seq: index.min(1) }),
  /** A piece of the text that a call reads. */
  z.strictObject({ ...request, kind: z.literal('feed'), id, seq: index.min(1), last: z.boolean() }),
  /** The caller does not wait any more: a call without effect is cancelled, a reader is closed. */
  z.strictObject({ ...request, kind: z.literal('cancel'), id }),
  /** The body has the ids of all open readers of the sender. */
  z.strictObject({ ...request, kind: z.literal('alive') }),
])
export type RequestFrame = z.output<typeof requestSchema>

type WithoutEnvelope<F> = F extends unknown ? Omit<F, keyof typeof request> : never
/** What is asked, without the envelope, which each message gets of its own. */
export type Ask = WithoutEnvelope<RequestFrame>

/** Why a message was refused. */
const REFUSALS = ['forged', 'wrong_host', 'expired', 'clock', 'replayed', 'malformed', 'too_many_hosts'] as const
export type RefusalReason = (typeof REFUSALS)[number]

const answer = { ...envelope, kind: z.literal('answer') }
export const answerFrameSchema = z.discriminatedUnion('state', [
  /** The body is the outcome, or its first part. */
  z.strictObject({ ...answer, state: z.literal('done'), parts: index, bytes: index }),
  z.strictObject({ ...answer, state: z.literal('part') }),
  z.strictObject({ ...answer, state: z.literal('pending') }),
  /** A part of the arguments, a piece of the text or a sign of life has arrived. */
  z.strictObject({ ...answer, state: z.literal('taken') }),
  /** The call was never begun, or its result is forgotten. */
  z.strictObject({ ...answer, state: z.literal('unknown') }),
  /** The message was for another run of this host; nothing of it was done. */
  z.strictObject({ ...answer, state: z.literal('other_run') }),
  z.strictObject({ ...answer, state: z.literal('refused'), reason: z.enum(REFUSALS), now: z.int() }),
])
export type AnswerFrame = z.output<typeof answerFrameSchema>
type WithoutAnswerEnvelope<F> = F extends unknown ? Omit<F, keyof typeof answer> : never
/** What is answered, without the envelope. */
export type Reply = WithoutAnswerEnvelope<AnswerFrame>

/** The outcome of a call or of a read, as JSON. */
const outcomeSchema = z.union([
  z.strictObject({ problem: z.record(z.string(), z.unknown()) }),
  z.strictObject({ end: z.literal(true) }),
  z.strictObject({ reader: z.literal(true) }),
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.string() }),
  z.strictObject({ value: z.unknown().optional() }),
])
export type Outcome =
  | { readonly problem: Json }
  | { readonly end: true }
  | { readonly reader: true }
  | { readonly text: string }
  | { readonly base64: string }
  | { readonly value?: unknown }

/** undefined for a text that is no outcome. */
export function parseOutcome(given: unknown): Outcome | undefined {
  const { success, data } = outcomeSchema.safeParse(given)
  return success ? data : undefined
}

const callSchema = z.strictObject({ args: z.array(z.unknown()).max(16), by: z.unknown().optional() })
/** The body of a call: its arguments, and for whom it is. */
export function parseCall(given: unknown): { readonly args: readonly unknown[]; readonly by?: unknown } | undefined {
  const { success, data } = callSchema.safeParse(given)
  return success ? defined(data) : undefined
}
