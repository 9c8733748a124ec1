import * as z from 'zod'
import { REQUEST_STATES } from '../agent-request.js'
import { SESSION_STATES, SESSION_STATUSES } from '../session.js'
import type { ToolDefinition } from './operation.js'
import { stateRefSchema } from './change-requests.js'
import { answerRequestSchema } from './answer-request.js'
import {
  BOUNDS,
  interruptRequestSchema,
  killRequestSchema,
  listQuerySchema,
  outputQuerySchema,
  promptSchema,
  resumeRequestSchema,
  spawnAgentSchema,
} from './requests.js'

// MCP calls a session `sessionId` where HTTP has `:id` (AIP-46). The list of tools is part of the context of every agent
// that uses them: descriptions and results say no more than a caller needs (F74).

/** Longest wait of a tool: MCP clients give up after a minute (F73). */
export const TOOL_WAIT_SECONDS = 49
/** Sessions of one wait. */
export const TOOL_WAIT_SESSIONS = 20
/** Lines that get_agent_session_output returns by default. */
export const TOOL_OUTPUT_LINES = 200

const sessionId = z.string().min(1)
const session = z.looseObject({
  id: z.string(),
  adapterSlug: z.string(),
  workspaceSlug: z.string(),
  cwd: z.string(),
  status: z.enum(SESSION_STATUSES),
  state: z.enum(SESSION_STATES),
  startedAt: z.string(),
})
const acknowledged = z.looseObject({ ok: z.boolean(), sessionId: z.string() })

export const startSession = {
  name: 'start_agent_session',
  description: 'Start a coding agent in a folder, with or without a first prompt. Returns the session.',
  input: spawnAgentSchema.omit({ loops: true, requestTimeoutMs: true }),
  output: session,
  hints: { openWorld: true },
} as const satisfies ToolDefinition

export const promptSession = {
  name: 'prompt_agent_session',
  description: 'Send a prompt and return at once. Then call wait_agent_turn or get_agent_session_output.',
  input: z.strictObject({ sessionId, prompt: promptSchema }),
  output: acknowledged.extend({ turn: z.int() }),
  hints: { openWorld: true },
} as const satisfies ToolDefinition

export const listSessions = {
  name: 'list_agent_sessions',
  description: 'List sessions, newest first.',
  input: z.strictObject({
    onlyAlive: z.boolean().optional(),
    state: listQuerySchema.shape.state,
    adapter: listQuerySchema.shape.adapter,
    workspace: listQuerySchema.shape.workspace,
    host: listQuerySchema.shape.host,
    label: listQuerySchema.shape.label,
    since: listQuerySchema.shape.since,
    limit: listQuerySchema.shape.limit,
    after: listQuerySchema.shape.after,
  }),
  output: z.looseObject({ sessions: z.array(session), nextCursor: z.string().optional() }),
} as const satisfies ToolDefinition

export const getOutput = {
  name: 'get_agent_session_output',
  description: `Read the last lines of a session, oldest first; ${TOOL_OUTPUT_LINES} by default.`,
  input: z.strictObject({ sessionId, ...outputQuerySchema.shape }),
  output: z.looseObject({
    lines: z.array(z.looseObject({ line: z.string(), stream: z.enum(['stdout', 'stderr']) })),
  }),
} as const satisfies ToolDefinition

export const killSession = {
  name: 'kill_agent_session',
  description: 'End a session and all its processes. ok is false if it had already ended.',
  input: z.strictObject({ sessionId, ...killRequestSchema.shape }),
  output: acknowledged,
  hints: { destructive: true, idempotent: true },
} as const satisfies ToolDefinition

export const getSession = {
  name: 'get_agent_session',
  description: 'Get a session: its status, its turn and the pending requests of its agent.',
  input: z.strictObject({ sessionId }),
  output: session.extend({ requests: z.array(z.looseObject({ requestId: z.string() })) }),
} as const satisfies ToolDefinition

export const waitTurn = {
  name: 'wait_agent_turn',
  description:
    'Wait for a turn (default: the last one) to end. Returns state "ended" with the result, "awaiting-input" with requests to answer, or "busy" when the time is up: then call again.',
  input: z.strictObject({
    sessionId,
    turn: z.int().min(1).optional(),
    timeoutSeconds: z.number().min(0).max(TOOL_WAIT_SECONDS).optional(),
  }),
  output: z.looseObject({
    sessionId: z.string(),
    turn: z.int(),
    state: z.enum(['ended', 'awaiting-input', 'busy']),
    result: z.looseObject({ text: z.string() }).optional(),
  }),
} as const satisfies ToolDefinition

export const waitForSessions = {
  name: 'wait_for_sessions',
  description:
    'Wait until one of these sessions is not busy any more, or the time is up. Returns the state of each, and the requests it waits for.',
  input: z.strictObject({
    sessionIds: z.array(sessionId).min(1).max(TOOL_WAIT_SESSIONS),
    timeoutSeconds: z.number().min(0).max(TOOL_WAIT_SECONDS).optional(),
  }),
  output: z.looseObject({ sessions: z.array(z.looseObject({ id: z.string(), state: z.enum(SESSION_STATES) })) }),
} as const satisfies ToolDefinition

export const getChanges = {
  name: 'get_session_changes',
  description:
    'List the files that a session changed: from its start, a turn or the last review (reviewed), to now or a turn. With patch, also the patch of this file or folder (. for all).',
  input: z.strictObject({
    sessionId,
    from: stateRefSchema.optional(),
    to: stateRefSchema.optional(),
    turn: z.int().min(1).optional().describe('Only this turn'),
    patch: z.string().min(1).max(BOUNDS.pathChars).optional(),
  }),
  output: z.looseObject({
    files: z.array(z.looseObject({ path: z.string(), status: z.string() })),
    patch: z.string().optional(),
  }),
} as const satisfies ToolDefinition

export const interruptSession = {
  name: 'interrupt_agent_session',
  description: 'Stop the running turn and all queued ones, or only the given turn; the session stays live.',
  input: z.strictObject({ sessionId, ...interruptRequestSchema.shape }),
  output: acknowledged.extend({ wasBusy: z.boolean(), sent: z.literal(false).optional() }),
  hints: { destructive: false, idempotent: true },
} as const satisfies ToolDefinition

export const resumeSession = {
  name: 'resume_agent_session',
  description: 'Start the agent of an ended session again, in its conversation or, with fresh, in a new one.',
  input: z.strictObject({ sessionId, ...resumeRequestSchema.omit({ budget: true }).shape }),
  output: session,
  hints: { destructive: false, openWorld: true },
} as const satisfies ToolDefinition

const [byOption, byAction] = answerRequestSchema.options

export const answerRequest = {
  name: 'answer_agent_request',
  description: 'Answer a permission with one of its optionIds, or a question with an action and its content.',
  // The list needs one object, so the two kinds of answers are one here and parsed again by the handler.
  input: z.strictObject({
    sessionId,
    requestId: z.string().min(1),
    optionId: byOption.shape.optionId.optional(),
    remember: byOption.shape.remember,
    action: byAction.shape.action.optional(),
    content: byAction.shape.content,
  }),
  output: z.looseObject({ requestId: z.string(), sessionId: z.string(), state: z.enum(REQUEST_STATES) }),
} as const satisfies ToolDefinition

export const listAdapters = {
  name: 'list_agent_adapters',
  description: 'List the agents, whether they are installed, and their modes, models and options.',
  input: z.strictObject({}),
  output: z.looseObject({ adapters: z.array(z.looseObject({ slug: z.string(), installed: z.boolean() })) }),
} as const satisfies ToolDefinition

export const listWorkspaces = {
  name: 'list_agent_workspaces',
  description: 'List the named folders and which one is active.',
  input: z.strictObject({}),
  output: z.looseObject({ workspaces: z.array(z.looseObject({ slug: z.string(), path: z.string() })) }),
} as const satisfies ToolDefinition

export const listHosts = {
  name: 'list_agent_hosts',
  description: 'List the hosts that can run sessions, with their labels, agents, workspaces and free places.',
  input: z.strictObject({}),
  output: z.looseObject({ hosts: z.array(z.looseObject({ name: z.string(), reachable: z.boolean() })) }),
} as const satisfies ToolDefinition
