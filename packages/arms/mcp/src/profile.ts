import { AgentprotoError, TOOL_KINDS } from '@agentproto/contracts'
import * as z from 'zod'
import { parsePath } from './path.js'
import type { Path } from './path.js'

/**
 * What a manifest says of an agent that is an MCP server: how it is reached, and in `data` (its
 * `metadata.agentproto.mcp`) which tool takes the prompt and what its vendor's messages mean. All of it is data,
 * so that another vendor needs no code.
 */
export interface McpProfileInput {
  readonly transport: 'stdio' | 'http' | 'sse'
  /** Where the server listens; for `http` and `sse`, which launch nothing. */
  readonly url?: string
  /** Whether a session outlives its process (the manifest's `capabilities.resumable`). */
  readonly resumable?: boolean
  readonly data?: unknown
}

const path = z.string().min(1).max(200).transform(parsePath)
const name = z.string().min(1).max(200)
const toolKind = z.enum(TOOL_KINDS)
const json = z.record(z.string(), z.unknown())

const toolCallFields = {
  toolCallId: path,
  title: path.optional(),
  /** A place; `toolName` is the name itself. */
  toolNameAt: path.optional(),
  toolName: name.optional(),
  kind: toolKind.optional(),
  input: path.optional(),
  output: path.optional(),
  /** Of a path, of a list of paths, or of an object whose keys are paths. */
  locations: path.optional(),
}

const meaning = z.discriminatedUnion('event', [
  z.strictObject({ event: z.enum(['text-delta', 'thought']), text: path, messageId: path.optional() }),
  z.strictObject({
    event: z.literal('tool-call'),
    ...toolCallFields,
    status: z.enum(['pending', 'in_progress']).optional(),
  }),
  z.strictObject({
    event: z.literal('tool-result'),
    ...toolCallFields,
    /** It failed unless the value there is the given one. */
    succeeded: z.strictObject({ at: path, is: z.unknown() }).optional(),
  }),
  z.strictObject({
    event: z.literal('plan'),
    entries: path,
    content: path,
    status: path.optional(),
  }),
  z.strictObject({ event: z.literal('usage'), used: path.optional(), size: path.optional() }),
  z.strictObject({ event: z.literal('title'), title: path }),
  z.strictObject({ event: z.literal('notice'), text: path, severity: z.enum(['info', 'warning', 'error']).optional() }),
  z.strictObject({
    event: z.literal('error'),
    message: path,
    agentCode: path.optional(),
    /** The agent cannot go on with the conversation after it. */
    final: z.boolean().optional(),
  }),
  /** The agent names its session. */
  z.strictObject({ event: z.literal('session'), id: path }),
  /** The turn is over, whether or not its call is answered; `text` is what it said in all. */
  z.strictObject({
    event: z.literal('turn-end'),
    reason: z.enum(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled', 'error']),
    text: path.optional(),
  }),
  z.strictObject({ event: z.literal('ignore') }),
])

const source = z.strictObject({
  method: name,
  /** Where the kind of the notification stands; without it, every one of the method is of the kind `*`. */
  kind: path.optional(),
  /** Where the id, or the progress token, of the call stands that it belongs to. */
  call: path.optional(),
  /** Where the id of the session stands that it belongs to. */
  session: path.optional(),
  /** Kind to meaning; `*` for all others. What has no meaning is kept as an extension. */
  map: z.record(z.string(), meaning),
})

const option = z.strictObject({
  optionId: name,
  name: name.optional(),
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
  /** The result of the elicitation when it is chosen. */
  reply: json,
})

const permission = z.strictObject({
  /** Values by place, all of which must be there. */
  when: z.record(z.string(), z.unknown()),
  call: path.optional(),
  session: path.optional(),
  toolCall: z.strictObject(toolCallFields),
  options: z.array(option).min(1).max(16),
  /** The result when the user does not answer, or the turn is cancelled. */
  cancelled: json,
})

const spoken = z.enum(['text-delta', 'thought', 'notice', 'ignore'])

const toolHint = { tool: name.optional(), argument: name.optional(), arguments: json.optional() }

const data = z.strictObject({
  prompt: z.strictObject(toolHint).optional(),
  reply: z.strictObject({ ...toolHint, session: name.optional() }).optional(),
  /** Where the session's id stands in an answer. */
  session: path.optional(),
  /** Where the text stands in an answer; its text content where this is not said. */
  text: path.optional(),
  /** What `notifications/progress` is. */
  progress: spoken.optional(),
  /** What `notifications/message` is. */
  logging: spoken.optional(),
  /** HTTP headers; `{NAME}` is a variable of the agent's environment. */
  headers: z.record(z.string(), z.string()).optional(),
  events: z.array(source).max(32).optional(),
  permissions: z.array(permission).max(32).optional(),
})

const profile = z.strictObject({
  transport: z.enum(['stdio', 'http', 'sse']),
  url: z.url().optional(),
  resumable: z.boolean().default(false),
  data: data.default({}),
})

export type EventSource = z.output<typeof source>
export type Meaning = z.output<typeof meaning>
export type PermissionRule = z.output<typeof permission>
export type ToolCallPlaces = PermissionRule['toolCall']
export type Spoken = z.output<typeof spoken>
/** A profile as the arm uses it. */
export type McpProfile = Readonly<z.output<typeof profile>>

/** Where servers put the id of a session by default. */
export const SESSION_NAMES: readonly string[] = ['thread', 'session', 'conversation', 'chat'].flatMap((what) => [
  `${what}Id`,
  `${what}_id`,
])
export const SESSION_PATHS: readonly Path[] = SESSION_NAMES.flatMap((key) => [
  ['structuredContent', key],
  ['_meta', key],
])

/**
 * Parses what the manifest says.
 * @throws `manifest_invalid`, naming the place
 */
export function parseProfile(input: unknown): McpProfile {
  const parsed = profile.safeParse(input ?? { transport: 'stdio' })
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${place(issue.path)}: ${issue.message}`)
    throw new AgentprotoError('manifest_invalid', `metadata.agentproto.mcp is not valid: ${problems.join('; ')}`)
  }
  const { transport, url } = parsed.data
  if (transport !== 'stdio' && url === undefined) {
    throw new AgentprotoError('manifest_invalid', `The MCP transport ${transport} needs the key mcp.url`)
  }
  return parsed.data
}

const place = (keys: readonly PropertyKey[]): string => keys.filter((key) => key !== 'data').join('.') || 'the block'
