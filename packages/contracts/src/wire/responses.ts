import * as z from 'zod'
import { type PermissionRule, RULE_LIFETIMES } from '../permission-rule.js'
import { REQUEST_STATES, type SessionRequest } from '../agent-request.js'
import type { AdapterSummary } from '../agent/adapter-catalog.js'
import { PROTOCOLS } from '../agent/protocol-arm.js'
import type { SecretStatus } from '../agent/secret.js'
import type { EventGap, SessionEvent } from '../event-log.js'
import type { OutputLine } from '../output-line.js'
import { type BrowserCode, type NamedToken, type NewToken, SCOPES } from '../principal.js'
import type { Session } from '../session.js'
import { TURN_END_REASONS } from '../stream-event.js'
import type { QueuedTurn, Turn, TurnDetail, TurnResult } from '../turn.js'
import type { Workspace, WorkspacesFile } from '../workspace.js'
import type { AdapterState, DoctorCheck } from './provisioning.js'
import type { ExportHead, PruneResult, RepairReport, SearchResult, TurnTranscript } from './session-archive.js'
import type { Interrupted, SessionPage } from './session-service.js'

// What the gateway answers. Objects may hold more: readers ignore what they do not know (AIP-46 §Session data model).

/** The schema of a type that is written by hand; a test of gateway-http checks each answer against it. */
const of = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>

const time = z.iso.datetime()
const count = z.int().min(0)

/** Described by `session.schema.json` and `stream-event.schema.json`, which the OpenAPI document refers to. */
export const session = of<Session>(z.unknown())
export const event = of<SessionEvent>(z.unknown())

export interface Acknowledged {
  readonly ok: boolean
  readonly id: string
}
const acknowledgedObject = z.looseObject({ ok: z.boolean(), id: z.string() })
export const acknowledged = of<Acknowledged>(acknowledgedObject)
export const interrupted = of<Acknowledged & Interrupted>(
  acknowledgedObject.extend({ wasBusy: z.boolean(), sent: z.literal(false).optional() }),
)

export const sessionPage = of<SessionPage>(
  z.looseObject({
    sessions: z.array(session),
    nextCursor: z.string().optional().describe('Pass it as `after` to get the next page; absent on the last one'),
  }),
)

const turn = z.looseObject({
  number: z.int().min(1),
  state: z.enum(['running', 'ended']),
  queuedAt: time.optional().describe('When the prompt was queued'),
  startedAt: time,
  endedAt: time.optional(),
  durationMs: count.optional(),
  reason: z.enum(TURN_END_REASONS).optional(),
  empty: z.boolean().optional().describe('The turn produced nothing'),
  sent: z.literal(false).optional().describe('The prompt was never sent to the agent'),
  usage: z.looseObject({}).optional().describe('Tokens, if the agent reports them'),
  firstSeq: count,
  lastSeq: count.optional(),
  error: z.string().optional(),
})
const prompt = z.array(z.looseObject({ type: z.string() }))
const gap = z.looseObject({ after: count, first: count })
const gaps = z.array(gap).optional().describe('Events of the turn that can no longer be read')
const output = {
  text: z.string().describe('The text of the agent, joined'),
  parts: z
    .array(z.looseObject({ type: z.enum(['text', 'thought', 'tool', 'plan']) }))
    .describe('The output in the order in which each part began; `cut` if it was too long'),
  omittedParts: count.optional().describe('Number of further parts'),
  gaps,
}
const queued = z.looseObject({
  number: z.int().min(1),
  state: z.literal('queued'),
  queuedAt: time,
  prompt,
  afterSeq: count.describe('The events of the turn will have greater sequence numbers'),
})
const nextAfter = count.describe('Pass it as `after` to get the next page')

export const turns = of<{ readonly turns: readonly Turn[]; readonly nextAfter: number }>(
  z.looseObject({ turns: z.array(turn), nextAfter }),
)
export const turnDetail = of<TurnDetail | QueuedTurn>(z.union([turn.extend({ ...output, prompt }), queued]))

export interface PromptAccepted extends Acknowledged {
  readonly turn: number
}
const promptAcceptedObject = acknowledgedObject.extend({ turn: z.int().min(1) })
export const promptAccepted = of<PromptAccepted>(promptAcceptedObject)
export const promptFinished = of<PromptAccepted & { readonly result: TurnResult }>(
  promptAcceptedObject.extend({ result: turn.extend(output) }),
)

export const lines = of<{ readonly lines: readonly OutputLine[] }>(
  z.looseObject({ lines: z.array(z.looseObject({ line: z.string(), stream: z.enum(['stdout', 'stderr']) })) }),
)

export interface EventsPage {
  readonly events: readonly SessionEvent[]
  /** Pass it as `after` to get the next page. */
  readonly nextAfter: number
  readonly gap?: EventGap
}
export const eventsPage = of<EventsPage>(
  z.looseObject({
    events: z.array(event),
    nextAfter,
    gap: gap.optional().describe('Events in between can no longer be read'),
  }),
)

export const agentRequest = of<SessionRequest>(
  z.looseObject({
    requestId: z.string(),
    sessionId: z.string(),
    turn: count,
    request: z.looseObject({ kind: z.enum(['permission', 'question']) }),
    state: z.enum(REQUEST_STATES),
    createdAt: time,
    resolvedAt: time.optional(),
    answer: z.looseObject({ outcome: z.string() }).optional(),
    answeredBy: z.looseObject({ type: z.string() }).optional(),
  }),
)
export const agentRequests = of<{ readonly requests: readonly SessionRequest[] }>(
  z.looseObject({ requests: z.array(agentRequest) }),
)

export const rule = of<PermissionRule>(
  z.looseObject({
    ruleId: z.string(),
    decision: z.enum(['allow', 'deny']),
    lifetime: z.enum(RULE_LIFETIMES),
    match: z.looseObject({
      toolKind: z.string().optional(),
      path: z.string().optional(),
      command: z.string().optional(),
      call: z.string().optional(),
    }),
    createdAt: time,
    createdBy: z.string(),
    from: z.looseObject({ sessionId: z.string(), requestId: z.string() }).optional(),
  }),
)
export const rules = of<{ readonly rules: readonly PermissionRule[] }>(z.looseObject({ rules: z.array(rule) }))
export const ruleRemoved = z.looseObject({ ok: z.literal(true), ruleId: z.string() })

export const searchResult = of<SearchResult>(
  z.looseObject({
    hits: z.array(
      z.looseObject({
        sessionId: z.string(),
        title: z.string().optional(),
        turn: count.optional(),
        seq: count,
        ts: time,
        type: z.string(),
        excerpt: z.string(),
      }),
    ),
    nextCursor: z.string().optional().describe('Pass it as `after` to continue'),
    unreadable: z
      .array(z.looseObject({ sessionId: z.string(), events: count }))
      .optional()
      .describe('Sessions with events that can no longer be read'),
  }),
)
export const pruned = of<PruneResult>(
  z.looseObject({
    dryRun: z.boolean(),
    pruned: z.array(z.looseObject({ id: z.string(), title: z.string().optional(), endedAt: time.optional() })),
  }),
)
export const repairReport = of<RepairReport>(
  z.looseObject({
    id: z.string(),
    dryRun: z.boolean(),
    findings: z.array(z.looseObject({ kind: z.string(), detail: z.string(), mended: z.boolean() })),
  }),
)
export const exported = of<ExportHead & { readonly events: readonly SessionEvent[] }>(
  z.looseObject({
    format: z.literal('agentproto.session.v1'),
    exportedAt: time,
    session,
    events: z.array(event),
  }),
)
export const transcript = of<{ readonly session: Session; readonly turns: readonly TurnTranscript[] }>(
  z.looseObject({
    session,
    turns: z.array(
      turn.extend({
        prompt: z.string(),
        text: z.string(),
        tools: z.array(z.looseObject({ name: z.string(), status: z.string() })),
        gaps,
      }),
    ),
  }),
)

export const workspace = of<Workspace>(
  z.looseObject({
    slug: z.string(),
    path: z.string(),
    addedAt: time,
    updatedAt: time,
    label: z.string().optional(),
  }),
)
export const workspaces = of<WorkspacesFile>(
  z.looseObject({ version: z.literal(1), active: z.string().optional(), workspaces: z.array(workspace) }),
)
export const workspaceRemoved = z.looseObject({ ok: z.literal(true), slug: z.string() })

export const adapter = of<AdapterSummary>(
  z.looseObject({
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    version: z.string(),
    protocol: z.enum(PROTOCOLS),
    installed: z.boolean(),
    source: z.enum(['bundled', 'user', 'workspace', 'host']),
    installHint: z.string().optional(),
    modes: z.array(z.string()),
    session: z.looseObject({ mode: z.enum(['ephemeral', 'persistent', 'resumable']) }),
  }),
)
export const adapters = of<{ readonly adapters: readonly AdapterSummary[] }>(
  z.looseObject({ adapters: z.array(adapter) }),
)
const setupStep = z.looseObject({ id: z.string(), kind: z.string(), state: z.enum(['pending', 'done', 'skipped']) })
export const adapterState = of<AdapterState>(
  z.looseObject({
    slug: z.string(),
    installed: z.boolean(),
    versionRange: z.string(),
    setup: z.array(setupStep),
    auth: z.enum(['not_needed', 'unknown', 'unauthed', 'authed']),
    secrets: z.array(z.looseObject({ slug: z.string(), set: z.boolean() })),
    ready: z.boolean().describe('Whether a session can be started, as far as this host knows'),
  }),
)
export interface DoctorReport {
  readonly slug: string
  readonly ok: boolean
  readonly checks: readonly DoctorCheck[]
}
const doctorCheck = z.looseObject({
  id: z.string(),
  title: z.string(),
  verdict: z.enum(['ok', 'warn', 'fail', 'skip']),
  detail: z.string(),
})
export const doctorReport = of<DoctorReport>(
  z.looseObject({ slug: z.string(), ok: z.boolean(), checks: z.array(doctorCheck) }),
)
const secret = z.looseObject({
  slug: z.string(),
  kind: z.string(),
  set: z.boolean(),
  variables: z.array(z.string()),
})
export const secrets = of<{ readonly secrets: readonly SecretStatus[] }>(z.looseObject({ secrets: z.array(secret) }))

const token = z.looseObject({
  name: z.string(),
  scope: z.enum(SCOPES),
  workspaces: z.array(z.string()).optional(),
  createdAt: time,
  rotatedAt: time.optional(),
  expiresAt: time.optional(),
})
export const tokens = of<{ readonly tokens: readonly NamedToken[] }>(z.looseObject({ tokens: z.array(token) }))
export const newToken = of<NewToken>(token.extend({ token: z.string() }))
export const tokenRevoked = z.looseObject({ ok: z.literal(true), name: z.string() })
export const browserCode = of<BrowserCode & { readonly path: string }>(
  z.looseObject({ code: z.string(), expiresAt: time, path: z.string() }),
)
export const browserLogin = z.looseObject({ ok: z.literal(true), name: z.string(), expiresAt: time })

export const health = z.looseObject({ ok: z.literal(true), version: z.string() })
export const openApi = z.looseObject({ openapi: z.literal('3.1.1') })
