import * as z from 'zod'
import {
  type AgentAnswer,
  type AgentRequest,
  type AnsweredBy,
  REQUEST_STATES,
  type RequestFacts,
} from '../agent-request.js'
import type { SessionEvent, SessionEventType } from '../event-log.js'
import type { PromptContextPart } from '../host-event.js'
import { RULE_LIFETIMES } from '../permission-rule.js'
import type { Session } from '../session.js'
import { type TokenUsage, TURN_END_REASONS } from '../stream-event.js'
import type { TurnPart } from '../turn-parts.js'
import type { ContentBlock } from './content-block.js'
import { ruleMatch } from './rule-match.js'
import { of, type ValueOf } from './value-of.js'

// What the gateway answers about sessions. Objects may hold more: readers ignore what they do not know (AIP-46 §Session data
// model). A test of gateway-http checks each answer.

/** ISO-8601. */
export const time = z.iso.datetime()
export const count = z.int().min(0)
const nextCursor = z.string().optional().describe('Pass it as `after` to get the next page; absent on the last one')
/** Of changed files. */
export const changeTotals = z.object({ files: count, additions: count, deletions: count })
const nextAfter = count.describe('Pass it as `after` to get the next page')

/** Described by `session.schema.json` and `stream-event.schema.json`, which the OpenAPI document refers to. */
export const session = of<Session>(z.unknown())
export const event = of<SessionEvent>(z.unknown())

/** Of an answer that is put together from those of all hosts. */
export const unanswered = z
  .array(z.object({ host: z.string(), problem: z.string() }))
  .optional()
  .describe('Hosts that did not answer, so that what they have is missing; absent for none')

export const acknowledged = z.object({ ok: z.boolean(), id: z.string() })

const forgottenSession = z.object({
  keptWorktree: z.string().optional().describe('Its worktree, which has work that would be lost, and is kept'),
})
/** What is left of a session that was deleted. */
export type Forgotten = ValueOf<typeof forgottenSession>
export const forgotten = acknowledged.extend(forgottenSession.shape)

const interruptedTurn = z.object({
  /** Whether there was a turn to end: a running one or, if it was given, a queued one. */
  wasBusy: z.boolean(),
  /** The given turn was queued and is never sent; its end is logged when its turn comes. */
  sent: z.literal(false).optional(),
})
/** The result of an interrupt. */
export type Interrupted = ValueOf<typeof interruptedTurn>
export const interrupted = acknowledged.extend(interruptedTurn.shape)

export const sessionPage = z.object({
  sessions: z.array(session),
  nextCursor,
  hidden: count
    .optional()
    .describe('On the first page: how many `endedSince` leaves out of all pages; absent without it'),
})
export type SessionPage = ValueOf<typeof sessionPage>

const turn = z.object({
  number: z.int().min(1),
  state: z.enum(['running', 'ended']),
  queuedAt: time.optional().describe('When the prompt was queued'),
  startedAt: time,
  endedAt: time.optional(),
  /** From `startedAt` to `endedAt`. */
  durationMs: count.optional(),
  reason: z.enum(TURN_END_REASONS).optional(),
  empty: z.boolean().optional().describe('The turn produced nothing'),
  /** The turn before it was stopped. */
  sent: z.literal(false).optional().describe('The prompt was never sent to the agent'),
  usage: of<TokenUsage>(z.object({})).optional().describe('Tokens, if the agent reports them'),
  /** First and last sequence number of the turn's events. */
  firstSeq: count,
  lastSeq: count.optional(),
  error: z.string().optional(),
  changes: changeTotals.optional().describe('What its files have become, if that was recorded'),
})
/** One turn, without its output. */
export type Turn = ValueOf<typeof turn>
export const turns = z.object({ turns: z.array(turn), nextAfter })

const gap = z.object({ after: count, first: count })
const gaps = z.array(gap).optional().describe('Events of the turn that can no longer be read')
const finishedTurn = turn.extend({
  text: z.string().describe('The text of the agent, joined'),
  parts: z
    .array(of<TurnPart>(z.object({ type: z.enum(['text', 'thought', 'tool', 'plan']) })))
    .describe('The output in the order in which each part began; `cut` if it was too long'),
  omittedParts: count.optional().describe('Number of further parts'),
  gaps,
})
/** A finished turn as `wait` returns it. */
export type TurnResult = ValueOf<typeof finishedTurn>

const prompt = z.array(of<ContentBlock>(z.object({ type: z.string() })))
const promptedTurn = finishedTurn.extend({
  prompt,
  preface: z.array(of<PromptContextPart>(z.object({ kind: z.string(), text: z.string() }))).optional(),
})
/** A turn with its prompt and its output so far. */
export type TurnDetail = ValueOf<typeof promptedTurn>
const queuedTurn = z.object({
  number: z.int().min(1),
  state: z.literal('queued'),
  queuedAt: time,
  sent: z.literal(false).optional().describe('It was stopped while it waited, and is never sent'),
  prompt,
  afterSeq: count.describe('The events of the turn will have greater sequence numbers'),
})
/** A turn whose prompt is queued. */
export type QueuedTurn = ValueOf<typeof queuedTurn>
export const turnDetail = z.union([promptedTurn, queuedTurn])

export const promptAccepted = acknowledged.extend({ turn: z.int().min(1) })
export type PromptAccepted = ValueOf<typeof promptAccepted>
export const promptFinished = promptAccepted.extend({ result: finishedTurn })

const outputLine = z.object({ line: z.string(), stream: z.enum(['stdout', 'stderr']) })
/** AIP-46's output projection: a session as lines for people. */
export type OutputLine = ValueOf<typeof outputLine>
export const lines = z.object({ lines: z.array(outputLine) })

export const eventsPage = z.object({
  events: z.array(event),
  nextAfter,
  gap: gap.optional().describe('Events in between can no longer be read'),
})
export type EventsPage = ValueOf<typeof eventsPage>

export const agentRequest = z.object({
  requestId: z.string(),
  sessionId: z.string(),
  turn: count,
  request: of<AgentRequest>(z.object({ kind: z.enum(['permission', 'question']) })),
  facts: of<RequestFacts>(z.object({ commands: z.array(z.string()), unclear: z.boolean() }))
    .optional()
    .describe('What the gateway found out about a permission request that a person decides'),
  cut: z.object({ originalChars: count }).optional().describe('The request was too large and is not whole'),
  /**
   * `interrupted`: the gateway ended while the request was pending, so its agent is gone. It can still be answered with
   * `remember` for the next time that the agent asks the same.
   */
  state: z.enum(REQUEST_STATES),
  createdAt: time,
  resolvedAt: time.optional(),
  answer: of<AgentAnswer>(z.object({ outcome: z.string() })).optional(),
  answeredBy: of<AnsweredBy>(z.object({ type: z.string() })).optional(),
})
/** A request as a resource of its session. */
export type SessionRequest = ValueOf<typeof agentRequest>
export const agentRequests = z.object({ requests: z.array(agentRequest) })
export const requestPage = z.object({ requests: z.array(agentRequest), nextCursor, unanswered })
export type RequestPage = ValueOf<typeof requestPage>

export const rule = z.object({
  ruleId: z.string(),
  /** A rule that denies wins over all that allow. */
  decision: z.enum(['allow', 'deny']),
  lifetime: z.enum(RULE_LIFETIMES),
  match: ruleMatch,
  createdAt: time,
  /** Name of the principal who created it. */
  createdBy: z.string(),
  /** The request whose answer created it. */
  from: z.object({ sessionId: z.string(), requestId: z.string() }).optional(),
})
export type PermissionRule = ValueOf<typeof rule>
export const rules = z.object({ rules: z.array(rule) })
const placedRule = rule.extend({
  /** The session whose rule it is; absent for one of a workspace. */
  sessionId: z.string().optional(),
  workspaceSlug: z.string().optional(),
})
/** A rule, and of what it is: of one session, or of one workspace. */
export type PlacedRule = ValueOf<typeof placedRule>
export const allRules = z.object({
  rules: z.array(placedRule),
  omitted: count.optional().describe('Number of further rules, of older sessions'),
  unread: z
    .array(z.object({ workspaceSlug: z.string(), problem: z.string() }))
    .optional()
    .describe('Workspaces whose rules could not be read'),
  unanswered,
})
/** The rules of all workspaces, then those of the sessions, newest first. */
export type AllRules = ValueOf<typeof allRules>
export const ruleRemoved = z.object({ ok: z.literal(true), ruleId: z.string() })

const searchHit = z.object({
  sessionId: z.string(),
  title: z.string().optional(),
  turn: count.optional(),
  /** The first event of the message. */
  seq: count,
  ts: time,
  type: of<SessionEventType>(z.string()),
  /** The text around the match, on one line. */
  excerpt: z.string(),
})
/** One match of a search. */
export type SearchHit = ValueOf<typeof searchHit>
const unreadableEvents = z.object({ sessionId: z.string(), events: count })
export type UnreadableEvents = ValueOf<typeof unreadableEvents>
export const searchResult = z.object({
  /** Newest session first; within a session in the order of its log. */
  hits: z.array(searchHit),
  /** Present if the limit or the time was reached before all sessions were searched. */
  nextCursor,
  unreadable: z.array(unreadableEvents).optional().describe('Sessions with events that can no longer be read'),
  unanswered,
})
export type SearchResult = ValueOf<typeof searchResult>

export const pruned = z.object({
  dryRun: z.boolean(),
  pruned: z.array(
    z.object({
      id: z.string(),
      title: z.string().optional(),
      label: z.string().optional(),
      endedAt: time.optional(),
      ...forgottenSession.shape,
    }),
  ),
  unanswered,
})
export type PruneResult = ValueOf<typeof pruned>

const repairFinding = z.object({
  kind: z.enum(['torn-tail', 'unreadable-events', 'dangling-turn', 'no-end', 'record-differs']),
  detail: z.string(),
  /** Whether it was repaired; always false in a dry run, and for events that can no longer be read. */
  mended: z.boolean(),
})
/** A defect of a stored session. */
export type RepairFinding = ValueOf<typeof repairFinding>
export const repairReport = z.object({ id: z.string(), dryRun: z.boolean(), findings: z.array(repairFinding) })
export type RepairReport = ValueOf<typeof repairReport>

const exportHead = z.object({ format: z.literal('agentproto.session.v1'), exportedAt: time, session })
/** The first line of a JSON Lines export, and the top-level members of a JSON export. */
export type ExportHead = ValueOf<typeof exportHead>
export const exported = exportHead.extend({ events: z.array(event) })

const turnTranscript = turn.extend({
  prompt: z.string(),
  /** The text of the agent, joined; only its beginning if it is very long. Events that can no longer be read are marked `[gap]`. */
  text: z.string(),
  tools: z.array(z.object({ name: z.string(), status: z.string() })),
  gaps,
})
/** One turn of a transcript. */
export type TurnTranscript = ValueOf<typeof turnTranscript>
export const transcript = z.object({ session, turns: z.array(turnTranscript) })
