import type { PermissionRule, SessionRequest, Turn, TurnDetail, TurnResult } from '@agentproto/contracts'
import type { EventBatch, MergeResult } from '@agentproto/contracts/agent'
import type { OutputItem, OutputLine, QueuedTurn, SessionReview } from '@agentproto/contracts'
import {
  addRuleSchema,
  type AllRules,
  BOUNDS,
  type Forgotten,
  type Interrupted,
  OPERATIONS,
  OUTPUT_CURSOR,
  type Prompted,
  promptRequestSchema,
  type PruneResult,
  type Reader,
  type RepairReport,
  type RequestPage,
  type RewoundFiles,
  type SearchResult,
  type SessionChanges,
  spawnAgentSchema,
  type UsageReport,
} from '@agentproto/contracts/wire'
import * as z from 'zod'
import { answerPrompt } from './answer-prompt.js'
import {
  answerSchema,
  boundsSchema,
  type Check,
  count,
  isEventBatch,
  isLines,
  isNothing,
  isOutput,
  isRules,
  isSession,
  optional,
  requestKeySchema,
  ruleScopeSchema,
  sessionId,
  shaped,
} from './carried-values.js'
import {
  act,
  actWithAnswer,
  type ActMethod,
  fed,
  pieces,
  read,
  reader,
  type ReaderMethod,
  type ReadMethod,
  type ValueMethod,
} from './method-kinds.js'
import type { CarriedName, OwnerName } from './places.js'

const args = <const T extends readonly [z.ZodType, ...z.ZodType[]]>(...schemas: T) => z.tuple([...schemas])

const on = OPERATIONS
const jsonOf = (answers: { readonly 200: { readonly schema: z.ZodType } }): z.ZodType => answers[200].schema
const turnResult = on['POST /sessions/:id/prompt'].answers[200].schema.shape.result
const isPrompted: Check<Prompted> = shaped(z.object({ turn: z.int().min(1), result: turnResult.exactOptional() }))
const isKilled: Check<{ readonly ok: boolean }> = shaped(z.object({ ok: z.boolean() }))
const within = optional(boundsSchema)
const turnNumber = z.int().min(0)

/** The closed list of what a host answers for others, exhaustive by the compiler. */
export const METHODS = {
  'sessions.spawn': act(args(spawnAgentSchema), isSession, ({ sessions }, [request], { by }) =>
    sessions.spawn(request, by),
  ),
  'sessions.get': read(args(sessionId, within), isSession, ({ sessions }, [id, bounds]) => sessions.get(id, bounds)),
  'sessions.prompt': actWithAnswer(args(sessionId, promptRequestSchema), isPrompted, {
    run: ({ sessions }, [id, request], { by }) => sessions.prompt(id, request, by),
    answer: answerPrompt,
  }),
  'sessions.waitTurn': read(
    args(sessionId, turnNumber),
    shaped<TurnResult>(turnResult),
    ({ sessions }, [id, turn], { signal }) => sessions.waitTurn(id, turn, signal),
  ),
  'sessions.turns': read(
    args(sessionId, optional(on['GET /sessions/:id/turns'].query)),
    shaped<readonly Turn[]>(on['GET /sessions/:id/turns'].answers[200].schema.shape.turns),
    ({ sessions }, [id, query]) => sessions.turns(id, query),
  ),
  'sessions.turn': read(
    args(sessionId, turnNumber),
    shaped<TurnDetail | QueuedTurn>(on['GET /sessions/:id/turns/:turn'].answers[200].schema),
    ({ sessions }, [id, turn]) => sessions.turn(id, turn),
  ),
  'sessions.resume': act(
    args(sessionId, on['POST /sessions/:id/resume'].body),
    isSession,
    ({ sessions }, [id, request], { by }) => sessions.resume(id, request, by),
  ),
  'sessions.configure': act(
    args(sessionId, on['POST /sessions/:id/config'].body),
    isSession,
    ({ sessions }, [id, request], { by }) => sessions.configure(id, request, by),
  ),
  'sessions.rename': act(
    args(sessionId, on['PATCH /sessions/:id'].body),
    isSession,
    ({ sessions }, [id, request], { by }) => sessions.rename(id, request, by),
  ),
  'sessions.fork': act(
    args(sessionId, on['POST /sessions/:id/fork'].body),
    isSession,
    ({ sessions }, [id, request], { by }) => sessions.fork(id, request, by),
  ),
  'sessions.interrupt': act(
    args(sessionId, optional(on['POST /sessions/:id/interrupt'].body)),
    shaped<Interrupted>(on['POST /sessions/:id/interrupt'].answers[200].schema.omit({ ok: true, id: true })),
    ({ sessions }, [id, request], { by }) => sessions.interrupt(id, by, request),
  ),
  // The reason of a hook is not carried: hooks run where the session is.
  'sessions.kill': act(
    args(sessionId, optional(on['POST /sessions/:id/kill'].body.shape.reason.unwrap())),
    isKilled,
    ({ sessions }, [id, reason], { by }) => sessions.kill(id, by, reason),
  ),
  'sessions.forget': act(
    args(sessionId),
    shaped<Forgotten>(on['DELETE /sessions/:id'].answers[200].schema.omit({ ok: true, id: true })),
    ({ sessions }, [id], { by }) => sessions.forget(id, by),
  ),
  'sessions.output': read(
    args(sessionId, optional(z.int().min(1).max(BOUNDS.outputLinesMax))),
    isLines,
    ({ sessions }, [id, lastN]): Promise<readonly OutputLine[]> => sessions.output(id, lastN),
  ),
  'sessions.events': read(
    args(sessionId, count, z.int().min(1).max(BOUNDS.eventsMax)),
    isEventBatch,
    ({ sessions }, [id, after, limit]): Promise<EventBatch> => sessions.events(id, after, limit),
  ),
  'sessions.follow': reader(args(sessionId, count), isEventBatch, ({ sessions }, [id, after]) =>
    sessions.follow(id, after),
  ),
  'sessions.followOutput': reader(
    args(sessionId, optional(z.string().regex(OUTPUT_CURSOR))),
    isOutput,
    ({ sessions }, [id, cursor]): Promise<Reader<readonly OutputItem[]>> => sessions.followOutput(id, cursor),
  ),
  'sessions.requests': read(
    args(sessionId),
    shaped<readonly SessionRequest[]>(on['GET /sessions/:id/requests'].answers[200].schema.shape.requests),
    ({ sessions }, [id]) => sessions.requests(id),
  ),
  'sessions.waiting': read(
    args(optional(on['GET /requests'].query), within),
    shaped<RequestPage>(jsonOf(on['GET /requests'].answers)),
    ({ sessions }, [query, bounds]) => sessions.waiting(query, bounds),
  ),
  'sessions.answer': act(
    args(requestKeySchema, answerSchema),
    shaped<SessionRequest>(on['POST /sessions/:id/requests/:requestId'].answers[200].schema),
    ({ sessions }, [which, answer], { by }) => sessions.answer(which, answer, by),
  ),
  'permissions.rules': read(
    args(ruleScopeSchema),
    isRules,
    ({ permissions }, [scope]): Promise<readonly PermissionRule[]> => permissions.rules(scope),
  ),
  'permissions.allRules': read(
    args(z.array(z.string().max(500)).max(10_000)),
    shaped<AllRules>(jsonOf(on['GET /rules'].answers)),
    ({ permissions }, [workspaces]) => permissions.allRules(workspaces),
  ),
  'permissions.addRule': act(
    args(ruleScopeSchema, addRuleSchema),
    shaped<PermissionRule>(on['POST /sessions/:id/rules'].answers[201].schema),
    ({ permissions }, [scope, request], { by }) => permissions.addRule(scope, request, by),
  ),
  'permissions.removeRule': act(
    args(ruleScopeSchema, z.string().min(1).max(500)),
    isNothing,
    ({ permissions }, [scope, ruleId], { by }) => permissions.removeRule(scope, ruleId, by),
  ),
  'archive.search': read(
    args(on['GET /search'].query, within),
    shaped<SearchResult>(jsonOf(on['GET /search'].answers)),
    ({ archive }, [query, bounds], { signal }) => archive.search(query, bounds, signal),
  ),
  'archive.prune': act(
    args(on['POST /sessions/prune'].body),
    shaped<PruneResult>(jsonOf(on['POST /sessions/prune'].answers)),
    ({ archive }, [request], { by }) => archive.prune(request, by),
  ),
  'archive.repair': act(
    args(sessionId, z.strictObject({ dryRun: z.boolean() })),
    shaped<RepairReport>(jsonOf(on['POST /sessions/:id/repair'].answers)),
    ({ archive }, [id, options], { by }) => archive.repair(id, options, by),
  ),
  'archive.export': pieces(
    args(sessionId, z.enum(['md', 'json', 'jsonl', 'transcript'])),
    ({ archive }, [id, format]) => archive.export(id, format),
  ),
  'archive.import': fed(z.tuple([]), isSession, ({ archive }, _none, { text, by }) => archive.import(text, by)),
  'usage.report': read(
    args(optional(on['GET /usage'].query), within),
    shaped<UsageReport>(jsonOf(on['GET /usage'].answers)),
    ({ usage }, [query, bounds]) => usage.report(query, bounds),
  ),
  'worktrees.merge': act(
    args(sessionId, on['POST /sessions/:id/worktree/merge'].body),
    shaped<MergeResult>(z.object({ into: z.string(), commit: z.string(), commits: count })),
    ({ worktrees }, [id, request], { by }) => worktrees.merge(id, request, by),
  ),
  'worktrees.discard': act(
    args(sessionId, on['POST /sessions/:id/worktree/discard'].body),
    isNothing,
    ({ worktrees }, [id, request], { by }) => worktrees.discard(id, request, by),
  ),
  'changes.list': read(
    args(sessionId, optional(on['GET /sessions/:id/changes'].query)),
    shaped<SessionChanges>(jsonOf(on['GET /sessions/:id/changes'].answers)),
    ({ changes }, [id, query], { signal }) => changes.list(id, query, signal),
  ),
  'changes.diff': pieces(
    args(sessionId, optional(on['GET /sessions/:id/changes/diff'].query)),
    ({ changes }, [id, query], { signal }) => changes.diff(id, query, signal),
  ),
  'changes.markReviewed': act(
    args(sessionId, on['POST /sessions/:id/changes/reviewed'].body),
    shaped<SessionReview>(jsonOf(on['POST /sessions/:id/changes/reviewed'].answers)),
    ({ changes }, [id, request], { by }) => changes.markReviewed(id, request, by),
  ),
  'changes.rewind': act(
    args(sessionId, on['POST /sessions/:id/rewind'].body),
    shaped<RewoundFiles>(jsonOf(on['POST /sessions/:id/rewind'].answers)),
    ({ changes }, [id, request], { by }) => changes.rewind(id, request, by),
  ),
} as const satisfies Readonly<Record<CarriedName, { readonly kind: string }>>

type Methods = typeof METHODS
type NameOf<Shape> = { [K in CarriedName]: Methods[K] extends Shape ? K : never }[CarriedName]

/** The arguments of a method as they are sent, without principal and signal. */
export type ArgsOf<K extends CarriedName> = z.output<Methods[K]['args']>
/** What a method answers; of a reader one item. */
export type ResultOf<K extends CarriedName> = Methods[K] extends { readonly result: Check<infer R> }
  ? R
  : Methods[K] extends { readonly item: Check<infer T> }
    ? T
    : never

export type ValueName = NameOf<{ readonly kind: 'value' }>
export type ReaderName = NameOf<{ readonly kind: 'reader' }>
/** Of the methods that the owner of a session answers, those that change something, and those that read. */
export type OwnerAct = OwnerName & NameOf<{ readonly kind: 'value'; readonly principal: true }>
export type OwnerRead = OwnerName & NameOf<{ readonly kind: 'value'; readonly principal: false }>
export type OwnerReader = OwnerName & ReaderName

const VALUES: { readonly [K in ValueName]: ValueMethod<ArgsOf<K>, ResultOf<K>> } = METHODS
const READERS: { readonly [K in ReaderName]: ReaderMethod<ArgsOf<K>, ResultOf<K>> } = METHODS
const OWNER_ACTS: { readonly [K in OwnerAct]: ActMethod<ArgsOf<K>, ResultOf<K>> } = METHODS
const OWNER_READS: { readonly [K in OwnerRead]: ReadMethod<ArgsOf<K>, ResultOf<K>> } = METHODS

export const valueMethod = <K extends ValueName>(name: K): ValueMethod<ArgsOf<K>, ResultOf<K>> => VALUES[name]
export const readerMethod = <K extends ReaderName>(name: K): ReaderMethod<ArgsOf<K>, ResultOf<K>> => READERS[name]
export const ownerAct = <K extends OwnerAct>(name: K): ActMethod<ArgsOf<K>, ResultOf<K>> => OWNER_ACTS[name]
export const ownerRead = <K extends OwnerRead>(name: K): ReadMethod<ArgsOf<K>, ResultOf<K>> => OWNER_READS[name]
