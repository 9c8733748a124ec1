import {
  type AgentAnswer,
  isRecord,
  type OutputItem,
  type OutputLine,
  type PermissionRule,
  type Principal,
  RULE_LIFETIMES,
  type RuleScope,
  SCOPES,
  type Session,
  SESSION_STATUSES,
} from '@agentproto/contracts'
import type { EventBatch, EventRecord } from '@agentproto/contracts/agent'
import { BOUNDS, isWithinDepth, type SessionBounds } from '@agentproto/contracts/wire'
import * as z from 'zod'

// What goes from host to host and has no schema of its own in `contracts/wire`. A host of another version may be at the other
// end: arguments are parsed strictly, answers may hold more than is known here.

const MAX_NAME = 500

export const sessionId = z.string().min(1).max(128)
export const count = z.int().min(0)

/** An absent argument is `null` in JSON. */
export const optional = <S extends z.ZodType>(schema: S) => schema.nullable().transform((given) => given ?? undefined)

const name = z.string().min(1).max(MAX_NAME)
const slugs = z.array(z.string().max(MAX_NAME)).max(10_000)
const folders = z.record(z.string().max(MAX_NAME), z.string().max(BOUNDS.pathChars))
const trace = z
  .strictObject({ traceparent: z.string().max(512), tracestate: z.string().max(512).exactOptional() })
  .exactOptional()

/** Without `via`: which host checked the token is known by the signature, never by what is sent. */
export const principalSchema: z.ZodType<Principal> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('owner'), name, trace }),
  z.strictObject({
    type: z.literal('token'),
    name,
    scope: z.enum(SCOPES),
    workspaces: slugs.exactOptional(),
    folders: folders.exactOptional(),
    expiresAt: z.iso.datetime().exactOptional(),
    trace,
  }),
  z.strictObject({ type: z.literal('session'), name, sessionId, delegates: z.boolean(), trace }),
])

export const boundsSchema: z.ZodType<SessionBounds> = z.strictObject({
  workspaces: slugs.exactOptional(),
  folders: folders.exactOptional(),
  under: sessionId.exactOptional(),
  itself: z.boolean().exactOptional(),
})

export const ruleScopeSchema: z.ZodType<RuleScope> = z.union([
  z.strictObject({ sessionId }),
  z.strictObject({ workspaceSlug: name }),
])

export const requestKeySchema = z.strictObject({ id: sessionId, requestId: name })

const reason = z.string().max(BOUNDS.reasonChars).exactOptional()
const content = z
  .record(z.string(), z.unknown())
  .refine((given) => isWithinDepth(given, BOUNDS.contentDepth), `at most ${BOUNDS.contentDepth} levels`)
export const answerSchema: z.ZodType<AgentAnswer> = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('selected'),
    optionId: z.string().min(1),
    remember: z.enum(RULE_LIFETIMES).exactOptional(),
    reason,
  }),
  z.strictObject({ outcome: z.literal('accept'), content: content.exactOptional(), reason }),
  z.strictObject({ outcome: z.literal('decline'), reason }),
  z.strictObject({ outcome: z.literal('cancelled'), reason }),
])

/** Whether an answer of another host is what its reader relies on. */
export type Check<T> = (given: unknown) => given is T

/** By a schema of `contracts/wire`. What that does not know stays as it is. */
export const shaped =
  <T>(schema: z.ZodType): Check<T> =>
  (given): given is T =>
    schema.safeParse(given).success

export const isNothing: Check<void> = (given): given is void => given === undefined

export const isSession: Check<Session> = (given): given is Session =>
  isRecord(given) &&
  typeof given['id'] === 'string' &&
  typeof given['startedAt'] === 'string' &&
  typeof given['lastSeq'] === 'number' &&
  (SESSION_STATUSES as readonly unknown[]).includes(given['status'])

const isGap = (given: unknown): boolean => isRecord(given) && isCount(given['after']) && isCount(given['first'])
const isCount = (given: unknown): boolean => Number.isSafeInteger(given) && Number(given) >= 0

const isEventRecord = (given: unknown): given is EventRecord =>
  isRecord(given) && isCount(given['seq']) && typeof given['type'] === 'string' && typeof given['json'] === 'string'

export const isEventBatch: Check<EventBatch> = (given): given is EventBatch =>
  isRecord(given) &&
  Array.isArray(given['records']) &&
  given['records'].every(isEventRecord) &&
  (given['gap'] === undefined || isGap(given['gap']))

const isLine = (given: unknown): boolean => isRecord(given) && typeof given['line'] === 'string'
const isOutputItem = (given: unknown): boolean =>
  isRecord(given) &&
  typeof given['cursor'] === 'string' &&
  ((given['type'] === 'line' && isLine(given['line'])) ||
    (given['type'] === 'status' && isRecord(given['status'])) ||
    (given['type'] === 'gap' && isGap(given['gap'])))
export const isOutput: Check<readonly OutputItem[]> = (given): given is readonly OutputItem[] =>
  Array.isArray(given) && given.every(isOutputItem)

export const isLines: Check<readonly OutputLine[]> = (given): given is readonly OutputLine[] =>
  Array.isArray(given) && given.every(isLine)

export const isRules: Check<readonly PermissionRule[]> = (given): given is readonly PermissionRule[] =>
  Array.isArray(given) && given.every((rule) => isRecord(rule) && typeof rule['ruleId'] === 'string')
