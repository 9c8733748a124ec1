import { REQUEST_STATES, TURN_END_REASONS } from '@agentproto/contracts'
import * as z from 'zod'

// What the gateway answers, as the OpenAPI document says it. Each object may hold more: readers ignore what they do
// not know (AIP-46 §Session data model).

/** Described by `session.schema.json` and `stream-event.schema.json`; the document refers to them. */
export const session = z.unknown()
export const event = z.unknown()

const time = z.iso.datetime()
const count = z.int().min(0)

export const acknowledged = z.looseObject({ ok: z.boolean(), id: z.string() })
export const interrupted = acknowledged.extend({ wasBusy: z.boolean(), sent: z.literal(false).optional() })

export const sessionPage = z.looseObject({
  sessions: z.array(session),
  nextCursor: z.string().optional().describe('Give it as `after` to get the next page; absent on the last one'),
})

const turn = z.looseObject({
  number: z.int().min(1),
  state: z.enum(['running', 'ended']),
  queuedAt: time.optional().describe('When its prompt began to wait'),
  startedAt: time,
  endedAt: time.optional(),
  durationMs: count.optional(),
  reason: z.enum(TURN_END_REASONS).optional(),
  empty: z.boolean().optional().describe('It produced nothing'),
  sent: z.literal(false).optional().describe('Its prompt never reached the agent'),
  usage: z.looseObject({}).optional().describe('Tokens, where the agent says'),
  firstSeq: count,
  lastSeq: count.optional(),
  error: z.string().optional(),
})
const prompt = z.array(z.looseObject({ type: z.string() }))
const gap = z.looseObject({ after: count, first: count })
const gaps = z.array(gap).optional().describe('Events of the turn that cannot be read any more')
const output = {
  text: z.string().describe('The agent’s text of the turn, joined'),
  parts: z
    .array(z.looseObject({ type: z.enum(['text', 'thought', 'tool', 'plan']) }))
    .describe('What it put out, in the order in which each part began; `cut` where it was too long'),
  omittedParts: count.optional().describe('How many further parts there were'),
  gaps,
}
const queued = z.looseObject({
  number: z.int().min(1),
  state: z.literal('queued'),
  queuedAt: time,
  prompt,
  afterSeq: count.describe('Its events will have greater sequence numbers'),
})

export const turns = z.looseObject({
  turns: z.array(turn),
  nextAfter: count.describe('Give it as `after` to get the next page'),
})
export const turnDetail = z.union([turn.extend({ ...output, prompt }), queued])
export const promptAccepted = acknowledged.extend({ turn: z.int().min(1) })
export const promptFinished = promptAccepted.extend({
  result: turn.extend(output),
})

export const lines = z.looseObject({
  lines: z.array(z.looseObject({ line: z.string(), stream: z.enum(['stdout', 'stderr']) })),
})
export const eventPage = z.looseObject({
  events: z.array(event),
  nextAfter: count.describe('Give it as `after` to get the next page'),
  gap: gap.optional().describe('What lies between is gone'),
})

export const agentRequest = z.looseObject({
  requestId: z.string(),
  sessionId: z.string(),
  turn: count,
  request: z.looseObject({ kind: z.enum(['permission', 'question']) }),
  state: z.enum(REQUEST_STATES),
  createdAt: time,
  resolvedAt: time.optional(),
  answer: z.looseObject({ outcome: z.string() }).optional(),
  answeredBy: z.looseObject({ type: z.string() }).optional(),
})
export const agentRequests = z.looseObject({ requests: z.array(agentRequest) })

export const rule = z.looseObject({
  ruleId: z.string(),
  decision: z.enum(['allow', 'deny']),
  lifetime: z.enum(['once', 'session', 'workspace']),
  match: z.looseObject({
    toolKind: z.string().optional(),
    path: z.string().optional(),
    command: z.string().optional(),
    call: z.string().optional(),
  }),
  createdAt: time,
  createdBy: z.string(),
  from: z.looseObject({ sessionId: z.string(), requestId: z.string() }).optional(),
})
export const rules = z.looseObject({ rules: z.array(rule) })
export const ruleRemoved = z.looseObject({ ok: z.literal(true), ruleId: z.string() })

export const searchResult = z.looseObject({
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
  nextCursor: z.string().optional().describe('Give it as `after` to go on'),
  unreadable: z
    .array(z.looseObject({ sessionId: z.string(), events: count }))
    .optional()
    .describe('Sessions with events that cannot be read any more'),
})
export const pruned = z.looseObject({
  dryRun: z.boolean(),
  pruned: z.array(z.looseObject({ id: z.string(), title: z.string().optional(), endedAt: time.optional() })),
})
export const repairReport = z.looseObject({
  id: z.string(),
  dryRun: z.boolean(),
  findings: z.array(z.looseObject({ kind: z.string(), detail: z.string(), mended: z.boolean() })),
})
export const exported = z.looseObject({
  format: z.literal('agentproto.session.v1'),
  exportedAt: time,
  session,
  events: z.array(event),
})
export const transcript = z.looseObject({
  session,
  turns: z.array(
    turn.extend({
      prompt: z.string(),
      text: z.string(),
      tools: z.array(z.looseObject({ name: z.string(), status: z.string() })),
      gaps,
    }),
  ),
})

export const workspace = z.looseObject({
  slug: z.string(),
  path: z.string(),
  addedAt: time,
  updatedAt: time,
  label: z.string().optional(),
})
export const workspaces = z.looseObject({
  version: z.literal(1),
  active: z.string().optional(),
  workspaces: z.array(workspace),
})
export const removed = z.looseObject({ ok: z.literal(true), slug: z.string() })

export const adapter = z.looseObject({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.string(),
  protocol: z.enum(['acp', 'mcp', 'proprietary']),
  installed: z.boolean(),
  source: z.enum(['bundled', 'user', 'workspace', 'host']),
  installHint: z.string().optional(),
  modes: z.array(z.string()),
  session: z.looseObject({ mode: z.enum(['ephemeral', 'persistent', 'resumable']) }),
})
export const adapters = z.looseObject({ adapters: z.array(adapter) })
export const adapterState = z.looseObject({
  slug: z.string(),
  installed: z.boolean(),
  versionRange: z.string(),
  setup: z.array(z.looseObject({ id: z.string(), kind: z.string(), state: z.enum(['pending', 'done', 'skipped']) })),
  auth: z.enum(['not_needed', 'unknown', 'unauthed', 'authed']),
  secrets: z.array(z.looseObject({ slug: z.string(), set: z.boolean() })),
  ready: z.boolean().describe('Whether a session can be started as far as this host can tell'),
})
export const report = z.looseObject({
  slug: z.string(),
  ok: z.boolean(),
  checks: z.array(
    z.looseObject({
      id: z.string(),
      title: z.string(),
      verdict: z.enum(['ok', 'warn', 'fail', 'skip']),
      detail: z.string(),
    }),
  ),
})
export const secrets = z.looseObject({
  secrets: z.array(
    z.looseObject({ slug: z.string(), kind: z.string(), set: z.boolean(), variables: z.array(z.string()) }),
  ),
})

const token = z.looseObject({
  name: z.string(),
  scope: z.enum(['read', 'operate', 'admin']),
  workspaces: z.array(z.string()).optional(),
  createdAt: time,
  rotatedAt: time.optional(),
  expiresAt: time.optional(),
})
export const tokens = z.looseObject({ tokens: z.array(token) })
export const newToken = token.extend({ token: z.string() })
export const browserCode = z.looseObject({ code: z.string(), expiresAt: time, path: z.string() })
export const browserLogin = z.looseObject({ ok: z.literal(true), name: z.string(), expiresAt: time })
export const revoked = z.looseObject({ ok: z.literal(true), name: z.string() })

export const health = z.looseObject({ ok: z.literal(true), version: z.string() })
export const openApi = z.looseObject({ openapi: z.literal('3.1.1') })
