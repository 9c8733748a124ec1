import * as z from 'zod'
import { CONTINUATION_STRATEGIES } from '../agent/adapter-catalog.js'
import { PERMISSION_MODES } from '../agent-request.js'
import { TOOL_KINDS } from '../content.js'
import { HOST_LOSS_POLICIES, SESSION_STATES, SESSION_STATUSES } from '../session.js'
import { contentBlockSchema } from './content-block.js'
import { budgetSchema, loopsSchema } from './usage.js'

/** What callers send over HTTP and MCP. Objects are strict: an unknown field is refused, never ignored. */

/** Bounds of the wire, in bytes, characters or counts. */
export const BOUNDS = {
  /** A prompt, serialised. */
  promptBytes: 4 * 1024 * 1024,
  /** A request body: a prompt and its envelope. */
  bodyBytes: 4 * 1024 * 1024 + 64 * 1024,
  labelChars: 200,
  /** Name of a host, as the machine has it. */
  hostChars: 255,
  instructionsChars: 64 * 1024,
  pathChars: 4_096,
  /** Why a request was answered so. */
  reasonChars: 2_000,
  /** Sessions of one page, which is also the default: AIP-46 lists all of them. */
  listMax: 10_000,
  turnsMax: 1_000,
  /** Waiting requests of one page, which is also the default. */
  requestsMax: 1_000,
  eventsMax: 10_000,
  outputLinesMax: 2_000,
  contentBlocks: 256,
  ttlSeconds: 30 * 24 * 60 * 60,
  queuedPrompts: 10,
  /** Of one request that waits for the end of a turn. */
  waitSeconds: 300,
  /** Nesting of the content of an answer: deeper JSON parses but may not serialise. */
  contentDepth: 64,
  /** Nesting of a body. */
  jsonDepth: 128,
} as const

export const slug = z.string().min(1).max(80)
export const label = z.string().max(BOUNDS.labelChars)
export const path = z.string().min(1).max(BOUNDS.pathChars)
const idempotencyKey = z.string().min(1).max(200)
export const optionValue = z.union([z.string(), z.number(), z.boolean()])

export const permissionModeSchema = z.enum(PERMISSION_MODES)

const toolKindSchema = z.enum(TOOL_KINDS)

/** A rule for the permission requests of a session or a workspace; it needs a `toolKind`, a `path` or a `command`. */
export const addRuleSchema = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  toolKind: toolKindSchema.optional(),
  path: path.optional().describe('Path pattern; relative to the folder of the session or workspace'),
  command: path.optional().describe('Words of a command; * within a word, a trailing ** for any words'),
  lifetime: z.enum(['once', 'session']).optional().describe('For a rule of a session; default session'),
})
export type AddRuleRequest = z.infer<typeof addRuleSchema>

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

/** AIP-45's continuation strategies. */
const continuationSchema = z.enum(CONTINUATION_STRATEGIES)

/** What a session may start; absent members have defaults. */
const delegationSchema = z.strictObject({
  /** Maximum and default lifetime of a child. Default one hour. */
  ttlSeconds: z.int().min(1).max(BOUNDS.ttlSeconds).optional(),
  /** Generations below the session. Default 1. */
  maxDepth: z.int().min(1).max(8).optional(),
  /** Children that may be live at the same time. Default 5. */
  maxChildren: z.int().min(1).max(64).optional(),
  /** The least strict mode of a child; never less strict than the session's own, which is the default. */
  permissionMode: permissionModeSchema.optional(),
  /** Adapters that it may start. Default: its own. */
  adapters: z.array(slug).min(1).max(64).optional(),
  /** Modes that children may use, beside its own. */
  modes: z.array(slug).max(64).optional(),
  /** Names of options that children may have, beside its own. */
  options: z.array(slug).max(64).optional(),
})
export type DelegationRequest = z.infer<typeof delegationSchema>

/** A branch or a commit; git decides what it accepts. */
const gitName = z.string().min(1).max(200)

/** A worktree of its own, on a new branch, or on an existing one that is not checked out. */
const worktreeSchema = z.union([
  z.boolean(),
  z.strictObject({
    branch: gitName.optional().describe('Default a new one with a random name'),
    base: gitName.optional().describe('What a new branch starts from; default what is checked out'),
  }),
])
export type WorktreeRequest = z.infer<typeof worktreeSchema>

/** Where a session is started: `any`, a label as `key=value`, or the name of a host. */
const placementSchema = z.string().min(1).max(BOUNDS.hostChars)

/** AIP-46 SpawnAgentRequest, with additions. */
export const spawnAgentSchema = z.strictObject({
  adapter: slug.describe('Slug of the AIP-45 adapter to run'),
  workspaceSlug: slug.optional().describe('Workspace to run in; the active one when absent'),
  cwd: path.optional().describe('Absolute folder to run in; wins over workspaceSlug'),
  prompt: promptSchema.optional().describe('Initial prompt'),
  label: label.optional().describe('Free text to group and filter by'),
  title: label.optional().describe('Title; default the beginning of the first prompt'),
  mode: slug.optional().describe('Id of one of the adapter’s modes'),
  options: z.record(z.string(), optionValue).optional().describe('Values for the adapter’s options'),
  permissionMode: permissionModeSchema.optional().describe('How permission requests are answered; default ask'),
  additionalDirectories: z.array(path).max(32).optional().describe('Further absolute folders the agent may use'),
  worktree: worktreeSchema.optional().describe('Run in a git worktree of its own'),
  mcpServers: z.array(mcpServerSchema).max(32).optional().describe('MCP servers for the agent to use'),
  instructions: z
    .string()
    .min(1)
    .max(BOUNDS.instructionsChars)
    .optional()
    .describe('Instructions for the whole conversation'),
  envelope: z.boolean().optional().describe('Describe the session to its agent; default as the adapter says'),
  continuation: continuationSchema.optional().describe('How it is resumed; one that the adapter supports'),
  ttlSeconds: z.int().min(1).max(BOUNDS.ttlSeconds).optional().describe('End the session after this time'),
  budget: budgetSchema.optional().describe('What the session may use; at 80 % it is warned, at the limit it ends'),
  loops: loopsSchema.optional().describe('How often the agent may repeat the same call with the same result'),
  requestTimeoutMs: z
    .int()
    .min(0)
    .max(2_147_483_647)
    .optional()
    .describe('Deny a request that is not answered after this time; 0 for never'),
  on: placementSchema.optional().describe('Host to run on: its name, one of its labels as key=value, or any'),
  onHostLoss: z.enum(HOST_LOSS_POLICIES).optional().describe('Whether another host continues it when its own is lost'),
  delegation: delegationSchema.optional().describe('Let the agent start other sessions; {} for the defaults'),
  idempotencyKey: idempotencyKey.optional().describe('The same key within 10 minutes gives the same session'),
})
export type SpawnAgentRequest = z.infer<typeof spawnAgentSchema>

export const promptRequestSchema = z.strictObject({
  prompt: promptSchema,
  /** HTTP: answer when the turn has ended. */
  wait: z.boolean().optional(),
  /** While a turn is running: reject (the default), queue, or interrupt it. */
  whenBusy: z.enum(['reject', 'queue', 'interrupt']).optional(),
  /** The same key within 10 minutes gives the same turn. */
  idempotencyKey: idempotencyKey.optional(),
})
export type PromptRequest = z.infer<typeof promptRequestSchema>

/** `fresh`: in a new conversation if need be. `continuation`: one of the adapter's; default that of the spawn. */
export const resumeRequestSchema = z.strictObject({
  fresh: z.boolean().optional(),
  continuation: continuationSchema.optional(),
  budget: budgetSchema.optional().describe('New limits; those that are absent stay as they were'),
})
export type ResumeRequest = z.infer<typeof resumeRequestSchema>

/** Values are those that the `config` of the session offers. `permissionMode` may also be set on an ended session. */
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

/** What the new session does not take over from the old one. */
export const forkRequestSchema = z.strictObject({
  prompt: promptSchema.optional(),
  label: label.optional(),
  title: label.optional(),
  worktree: worktreeSchema.optional().describe('Run in a git worktree of its own'),
  turn: z
    .int()
    .min(0)
    .optional()
    .describe('With a worktree: its files are those at the end of this turn; 0 for the start'),
})
export type ForkRequest = z.infer<typeof forkRequestSchema>

const name = label.min(1).nullable().optional()

/** What a person calls a session; null removes it. The title of a person stays whatever the agent reports. */
export const renameRequestSchema = z
  .strictObject({
    title: name.describe('Title; null to have the agent’s or that of the next prompt'),
    label: name.describe('A label that no other live session has; null for none'),
  })
  .refine((request) => Object.keys(request).length > 0, 'a title or a label')
  .meta({ minProperties: 1 })
export type RenameRequest = z.infer<typeof renameRequestSchema>

/** Without `turn` the running turn is ended and queued prompts are dropped; with it only that turn. */
export const interruptRequestSchema = z.strictObject({
  turn: z.int().min(1).optional().describe('Number of a single turn, running or queued'),
})
export type InterruptRequest = z.infer<typeof interruptRequestSchema>

export const killRequestSchema = z.strictObject({
  reason: z.enum(['user_canceled', 'max_iterations', 'loop_detected', 'budget_exceeded']).optional(),
})
/** The reasons that a caller may give for a kill. */
export type KillReason = NonNullable<z.infer<typeof killRequestSchema>['reason']>

/** Whether parsed JSON is nested at most that deep. Iterative, so that a deep value cannot overflow the stack. */
export function isWithinDepth(value: unknown, levels: number): boolean {
  let level = [value].filter(isObject)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= levels) return false
    level = level.flatMap((each) => Object.values(each).filter(isObject))
  }
  return true
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Shorter than Zod's pattern of ISO-8601, which would be a tenth of the list of tools. */
const instant = z
  .string()
  .regex(
    /^\d{4}-(0[1-9]|1[0-2])-([0-2][1-9]|[123]0|31)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$/,
    'an ISO-8601 time in UTC',
  )

export const listQuerySchema = z.strictObject({
  status: z.enum(SESSION_STATUSES).optional(),
  state: z.enum(SESSION_STATES).optional(),
  adapter: z.string().max(80).optional(),
  workspace: z.string().max(80).optional(),
  label: z.string().max(BOUNDS.labelChars).optional(),
  cwd: z.string().max(4_096).optional(),
  host: z.string().max(BOUNDS.hostChars).optional().describe('Name of the host that has them'),
  q: z.string().max(200).optional(),
  onlyAlive: z.stringbool().optional(),
  since: instant.optional().describe('Active since then'),
  endedSince: instant.optional().describe('Leaves out those that ended before this time; `hidden` counts them'),
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
  limit: z.coerce.number().int().min(1).max(BOUNDS.turnsMax).optional(),
})

/** A page of turns. */
export type TurnQuery = Readonly<z.infer<typeof turnsQuerySchema>>

/** `waitSeconds`: answer when the turn has ended or that time is up. */
export const turnQuerySchema = z.strictObject({
  waitSeconds: z.coerce.number().int().min(0).max(BOUNDS.waitSeconds).optional(),
})

export const outputQuerySchema = z.strictObject({
  lastN: z.coerce.number().int().min(1).max(BOUNDS.outputLinesMax).optional(),
})

/** A cursor of lines: `<seq>` alone stands for everything that the event completed, so a cursor of `/events` works here. */
export const OUTPUT_CURSOR = /^\d{1,15}(?:\.\d{1,9})?$/

export const streamQuerySchema = z.strictObject({
  after: z.string().regex(OUTPUT_CURSOR).optional().describe('The id of the last known message, "<seq>.<n>"'),
})

/** A spawn below `/agents/:agent`. */
export const agentSpawnSchema = spawnAgentSchema.omit({ adapter: true })
