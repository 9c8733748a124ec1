import {
  killRequestSchema,
  listQuerySchema,
  outputQuerySchema,
  promptSchema,
  spawnAgentSchema,
} from '@agentproto/contracts'
import * as z from 'zod'
import { acknowledged, sessionId, sessionResult } from '../results.js'
import { defineTool } from '../tool.js'
import type { Tool } from '../tool.js'
import type { ToolSessions } from '../tool-services.js'

const DEFAULT_LINES = 200

/** The five tools of AIP-46 §MCP tools, by name and with its inputs, and the one that gets a session. */
export function sessionTools(sessions: ToolSessions): readonly Tool[] {
  return [start(sessions), prompt(sessions), list(sessions), output(sessions), kill(sessions), get(sessions)]
}

const start = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'start_agent_session',
    description: 'Start a coding agent in a folder, with a first prompt or without. Returns the session.',
    input: spawnAgentSchema,
    output: sessionResult,
    annotations: { readOnlyHint: false },
    run: (request, { by }) => sessions.spawn(request, by),
  })

const prompt = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'prompt_agent_session',
    description: 'Send a prompt and return at once. Then wait_agent_turn, or get_agent_session_output.',
    input: z.strictObject({ sessionId, prompt: promptSchema }),
    output: acknowledged.extend({ turn: z.int() }),
    annotations: { readOnlyHint: false },
    run: async ({ sessionId: id, prompt: text }, { by }) => {
      const { turn } = await sessions.prompt(id, { prompt: text }, by)
      return { ok: true, sessionId: id, turn }
    },
  })

const list = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'list_agent_sessions',
    description: 'List sessions, the newest first.',
    input: z.strictObject({
      onlyAlive: z.boolean().optional(),
      limit: listQuerySchema.shape.limit,
      after: listQuerySchema.shape.after,
    }),
    output: z.looseObject({ sessions: z.array(sessionResult), nextCursor: z.string().optional() }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: ({ onlyAlive, limit, after }, { within }) =>
      sessions.list(
        {
          ...(onlyAlive === undefined ? {} : { onlyAlive }),
          ...(limit === undefined ? {} : { limit }),
          ...(after === undefined ? {} : { after }),
        },
        within,
      ),
  })

const output = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'get_agent_session_output',
    description: `Read the last lines of a session, the oldest first; ${DEFAULT_LINES} when lastN is absent.`,
    input: z.strictObject({ sessionId, ...outputQuerySchema.shape }),
    output: z.looseObject({
      lines: z.array(z.looseObject({ line: z.string(), stream: z.enum(['stdout', 'stderr']) })),
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async ({ sessionId: id, lastN = DEFAULT_LINES }) => ({ lines: await sessions.output(id, lastN) }),
  })

const kill = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'kill_agent_session',
    description: 'End a session and every process of it. ok is false when it had ended already.',
    input: z.strictObject({ sessionId, ...killRequestSchema.shape }),
    output: acknowledged,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: async ({ sessionId: id, reason }, { by }) => {
      const { ok } = await sessions.kill(id, by, reason)
      return { ok, sessionId: id }
    },
  })

const get = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'get_agent_session',
    description: 'Get a session: its status, its turn, and what its agent asks and nobody answered yet (requests).',
    input: z.strictObject({ sessionId }),
    output: sessionResult.extend({ requests: z.array(z.looseObject({ requestId: z.string() })) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async ({ sessionId: id }) => {
      const [session, requests] = await Promise.all([sessions.get(id), sessions.requests(id)])
      return { ...session, requests: requests.filter(({ state }) => state === 'pending') }
    },
  })
