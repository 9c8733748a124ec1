import * as z from 'zod'
import { CONTINUATION_STRATEGIES } from '../agent/adapter-catalog.js'
import { type AgentAnswer, PERMISSION_MODES } from '../agent-request.js'
import { TOOL_KINDS } from '../content.js'
import { RULE_LIFETIMES } from '../permission-rule.js'
import { SESSION_STATUSES } from '../session.js'

/**
 * What callers send, over HTTP and MCP alike: one schema each, so that the two cannot drift. Objects are
 * strict: a field that nobody reads is refused, never silently dropped.
 */

/** Bounds of the wire, in bytes, characters or counts. */
export const BOUNDS = {
  /** A prompt, serialised. */
  promptBytes: 4 * 1024 * 1024,
  /** A request body: a prompt and its envelope. */
  bodyBytes: 4 * 1024 * 1024 + 64 * 1024,
  labelChars: 200,
  instructionsChars: 64 * 1024,
  pathChars: 4_096,
  listMax: 1_000,
  eventsMax: 10_000,
  outputLinesMax: 2_000,
  contentBlocks: 256,
  ttlSeconds: 30 * 24 * 60 * 60,
  queuedPrompts: 10,
  /** Of one request that waits for a turn. */
  waitSeconds: 300,
  /** Levels of an answer's content; what is deeper parses, and then no longer serialises. */
  contentDepth: 64,
  /** Levels of a body. */
  jsonDepth: 128,
} as const

export const slug = z.string().min(1).max(80)
export const label = z.string().max(BOUNDS.labelChars)
export const path = z.string().min(1).max(BOUNDS.pathChars)
const idempotencyKey = z.string().min(1).max(200)
export const optionValue = z.union([z.string(), z.number(), z.boolean()])

export const permissionModeSchema = z.enum(PERMISSION_MODES)

const ruleLifetimeSchema = z.enum(RULE_LIFETIMES)
const toolKindSchema = z.enum(TOOL_KINDS)

/** A rule for the permission requests of a session or of a workspace; at least one of the three says of what. */
export const addRuleSchema = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  toolKind: toolKindSchema.optional(),
  path: path.optional().describe('Path pattern; a relative one begins at the session’s or the workspace’s folder'),
  command: path.optional().describe('Words of a command; * within a word, a last ** for any words'),
  lifetime: z.enum(['once', 'session']).optional().describe('Of a session’s rule; default session'),
})
export type AddRuleRequest = z.infer<typeof addRuleSchema>

export const contentBlockSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), data: z.string(), mimeType: z.string(), uri: z.string().optional() }),
  z.strictObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
  z.strictObject({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string(),
    mimeType: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    size: z.number().optional(),
  }),
  z.strictObject({
    type: z.literal('resource'),
    resource: z.strictObject({
      uri: z.string(),
      mimeType: z.string().optional(),
      text: z.string().optional(),
      blob: z.string().optional(),
    }),
  }),
])

const pairs = z.array(z.strictObject({ name: z.string().min(1).max(200), value: z.string().max(8_192) })).max(64)
const serverName = z.string().min(1).max(100)

/** An MCP server for the agent to use, in ACP's shape. */
export const mcpServerSchema = z.union([
  z.strictObject({
    name: serverName,
    command: path,
    args: z.array(z.string().max(BOUNDS.pathChars)).max(64),
    env: pairs,
  }),
  z.strictObject({
    type: z.enum(['http', 'sse']),
    name: serverName,
    url: z.url().max(BOUNDS.pathChars),
    headers: pairs,
  }),
])

/** A prompt: text, or content blocks. */
export const promptSchema = z.union([
  z.string().min(1).max(BOUNDS.promptBytes),
  z.array(contentBlockSchema).min(1).max(BOUNDS.contentBlocks),
])

/** AIP-45's strategies, as far as a session of this host can be told to use one. */
const continuationSchema = z.enum(CONTINUATION_STRATEGIES)

/** What a session is allowed of starting others; each member that is absent has its default. */
export const delegationSchema = z.strictObject({
  /** Longest life of a child, and its life when it names none. Default one hour. */
  ttlSeconds: z.int().min(1).max(BOUNDS.ttlSeconds).optional(),
  /** Generations below it. Default 1. */
  maxDepth: z.int().min(1).max(8).optional(),
  /** Children of one session that live at once. Default 5. */
  maxChildren: z.int().min(1).max(64).optional(),
  /** The most that a child may be let; never more than the session's own mode, which is the default. */
  permissionMode: permissionModeSchema.optional(),
  /** Agents that it may start. Default: its own. */
  adapters: z.array(slug).min(1).max(64).optional(),
  /** Modes that it may start them in, beside its own. */
  modes: z.array(slug).max(64).optional(),
  /** Names of options that it may set on them, beside those that it has itself. */
  options: z.array(slug).max(64).optional(),
})
export type DelegationRequest = z.infer<typeof delegationSchema>

/** AIP-46 SpawnAgentRequest and our additions. */
export const spawnAgentSchema = z.strictObject({
  adapter: slug.describe('Slug of the AIP-45 adapter to run'),
  workspaceSlug: slug.optional().describe('Workspace to run in; the active one when absent'),
  cwd: path.optional().describe('Absolute folder to run in; wins over workspaceSlug'),
  prompt: promptSchema.optional().describe('Initial prompt'),
  label: label.optional().describe('Free text to group and filter by'),
  title: label.optional().describe('Title; the first prompt gives one when absent'),
  mode: slug.optional().describe('Id of one of the adapter’s modes'),
  options: z.record(z.string(), optionValue).optional().describe('Values for the adapter’s options'),
  permissionMode: permissionModeSchema.optional().describe('How permission requests are answered; default ask'),
  additionalDirectories: z.array(path).max(32).optional().describe('Further absolute folders the agent may use'),
  mcpServers: z.array(mcpServerSchema).max(32).optional().describe('MCP servers that the agent is to use'),
  instructions: z
    .string()
    .min(1)
    .max(BOUNDS.instructionsChars)
    .optional()
    .describe('What the agent is to keep to in all of the conversation'),
  continuation: continuationSchema.optional().describe('How it is taken up again, of those that the adapter supports'),
  ttlSeconds: z.int().min(1).max(BOUNDS.ttlSeconds).optional().describe('End the session after this long'),
  delegation: delegationSchema.optional().describe('Let the agent start others; {} for the defaults'),
  idempotencyKey: idempotencyKey.optional().describe('The same key within 10 minutes gives the same session'),
})
export type SpawnAgentRequest = z.infer<typeof spawnAgentSchema>

export const promptRequestSchema = z.strictObject({
  prompt: promptSchema,
  /** HTTP: hold the answer back until the turn has ended. */
  wait: z.boolean().optional(),
  /** While a turn runs: refuse (the default), wait for its end, or interrupt it. */
  whenBusy: z.enum(['reject', 'queue', 'interrupt']).optional(),
  /** The same key within 10 minutes gives the same turn. */
  idempotencyKey: idempotencyKey.optional(),
})
export type PromptRequest = z.infer<typeof promptRequestSchema>

/**
 * `fresh`: begin a new conversation where the agent has lost the old one, or cannot take it up. `continuation`: in which
 * way to take it up, of those that the adapter supports; default that of the spawn.
 */
export const resumeRequestSchema = z.strictObject({
  fresh: z.boolean().optional(),
  continuation: continuationSchema.optional(),
})
export type ResumeRequest = z.infer<typeof resumeRequestSchema>

/**
 * What is to be set on a running agent; each is one of the values that the session's `config` offers. The
 * `permissionMode` is the host's own, so that one of a session that has ended can be set too.
 */
export const configRequestSchema = z
  .strictObject({
    mode: z.string().min(1).max(200).optional(),
    model: z.string().min(1).max(200).optional(),
    options: z.record(z.string(), z.union([z.string().max(1_000), z.boolean()])).optional(),
    permissionMode: permissionModeSchema.optional(),
  })
  .refine((request) => Object.keys(request).length > 0, 'a mode, a model, options or a permissionMode')
  .meta({ minProperties: 1 })
export type ConfigRequest = z.infer<typeof configRequestSchema>

/** What the new session has instead of what the old one has. */
export const forkRequestSchema = z.strictObject({
  prompt: promptSchema.optional(),
  label: label.optional(),
  title: label.optional(),
})
export type ForkRequest = z.infer<typeof forkRequestSchema>

/** Without `turn` whatever runs is ended, and what waits behind it is never sent; with it that one alone. */
export const interruptRequestSchema = z.strictObject({
  turn: z.int().min(1).optional().describe('Number of the one turn that is meant, be it running or queued'),
})
export type InterruptRequest = z.infer<typeof interruptRequestSchema>

export const killRequestSchema = z.strictObject({
  reason: z.enum(['user_canceled', 'max_iterations', 'loop_detected', 'budget_exceeded']).optional(),
})

/**
 * Whether a value that was parsed from JSON has no more levels than that, itself the first. Without recursion: a depth
 * that breaks others must not break this.
 */
export function isWithinDepth(value: unknown, levels: number): boolean {
  let level = [value].filter(isObject)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= levels) return false
    level = level.flatMap((each) => Object.values(each).filter(isObject))
  }
  return true
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isShallow = (content: unknown): boolean => isWithinDepth(content, BOUNDS.contentDepth)

/** An answer: `optionId` for a permission; `action` for a question, and to cancel either. */
export const answerRequestSchema = z.union([
  z.strictObject({
    optionId: z.string().min(1),
    remember: ruleLifetimeSchema.optional().describe('Make a rule of it, for later calls like this one'),
  }),
  z.strictObject({
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z.record(z.string(), z.unknown()).refine(isShallow, `at most ${BOUNDS.contentDepth} levels`).optional(),
  }),
])
export type AnswerRequest = z.infer<typeof answerRequestSchema>

/** What the agent is told when a caller answers with this. */
export function toAgentAnswer(given: AnswerRequest): AgentAnswer {
  if ('optionId' in given) {
    const { optionId, remember } = given
    return { outcome: 'selected', optionId, ...(remember === undefined ? {} : { remember }) }
  }
  if (given.action === 'decline') return { outcome: 'decline' }
  if (given.action === 'cancel') return { outcome: 'cancelled' }
  return given.content === undefined ? { outcome: 'accept' } : { outcome: 'accept', content: given.content }
}

export const listQuerySchema = z.strictObject({
  status: z.enum(SESSION_STATUSES).optional(),
  adapter: z.string().max(80).optional(),
  workspace: z.string().max(80).optional(),
  label: z.string().max(BOUNDS.labelChars).optional(),
  cwd: z.string().max(4_096).optional(),
  q: z.string().max(200).optional(),
  onlyAlive: z.stringbool().optional(),
  limit: z.coerce.number().int().min(1).max(BOUNDS.listMax).optional(),
  after: z.string().max(100).optional(),
})

/** Which sessions are listed. */
export type SessionFilter = Readonly<z.infer<typeof listQuerySchema>>

export const eventsQuerySchema = z.strictObject({
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(BOUNDS.eventsMax).optional(),
})

export const turnsQuerySchema = z.strictObject({
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(BOUNDS.listMax).optional(),
})

/** A page of turns. */
export type TurnQuery = Readonly<z.infer<typeof turnsQuerySchema>>

/** `waitSeconds`: hold the answer back until the turn has ended, at most that long. */
export const turnQuerySchema = z.strictObject({
  waitSeconds: z.coerce.number().int().min(0).max(BOUNDS.waitSeconds).optional(),
})

export const outputQuerySchema = z.strictObject({
  lastN: z.coerce.number().int().min(1).max(BOUNDS.outputLinesMax).optional(),
})

/** A cursor of lines: `<seq>` alone stands for everything that the event completed, so a cursor of `/events` works here. */
export const OUTPUT_CURSOR = /^\d{1,15}(?:\.\d{1,9})?$/

export const streamQuerySchema = z.looseObject({
  after: z.string().regex(OUTPUT_CURSOR).optional().describe('The id of the last known message, "<seq>.<n>"'),
})

/** A spawn below `/agents/:agent`. */
export const agentSpawnSchema = spawnAgentSchema.omit({ adapter: true })
