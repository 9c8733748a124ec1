import { interruptRequestSchema, resumeRequestSchema } from '@agentproto/contracts'
import type { Clock } from '@agentproto/contracts'
import * as z from 'zod'
import { acknowledged, sessionId, sessionResult } from '../results.js'
import { defineTool } from '../tool.js'
import type { Tool } from '../tool.js'
import type { ToolSessions } from '../tool-services.js'
import { waitForTurn } from '../turn-wait.js'

/** Below the minute after which MCP clients give up (F73). */
const LONGEST_WAIT_SECONDS = 49

/** The tools that wait for a turn, that stop it, and that make a further one possible. */
export function turnTools(sessions: ToolSessions, clock: Clock): readonly Tool[] {
  return [wait(sessions, clock), interrupt(sessions), resume(sessions)]
}

const wait = (sessions: ToolSessions, clock: Clock): Tool =>
  defineTool({
    name: 'wait_agent_turn',
    description:
      'Wait for a turn (the last one when absent) to end. Returns state "ended" with the result, "awaiting-input" with requests to answer, or "busy" when the time is up: then call again.',
    input: z.strictObject({
      sessionId,
      turn: z.int().min(1).optional(),
      timeoutSeconds: z.number().min(0).max(LONGEST_WAIT_SECONDS).optional(),
    }),
    output: z.looseObject({
      sessionId: z.string(),
      turn: z.int(),
      state: z.enum(['ended', 'awaiting-input', 'busy']),
      result: z.looseObject({ text: z.string() }).optional(),
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: ({ sessionId: id, turn, timeoutSeconds = LONGEST_WAIT_SECONDS }, { signal, progress }) =>
      waitForTurn({ sessions, clock }, id, { turn, timeoutMs: timeoutSeconds * 1_000, signal, progress }),
  })

const interrupt = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'interrupt_agent_session',
    description: 'Stop the running turn and what is queued, or with turn that one alone; the session lives on.',
    input: interruptRequestSchema.extend({ sessionId }),
    output: acknowledged.extend({ wasBusy: z.boolean(), sent: z.literal(false).optional() }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    run: async ({ sessionId: id, ...request }, { by }) => ({
      ok: true,
      sessionId: id,
      ...(await sessions.interrupt(id, by, request)),
    }),
  })

const resume = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'resume_agent_session',
    description: 'Start the agent of an ended session again in its old conversation, or with fresh in a new one.',
    input: resumeRequestSchema.extend({ sessionId }),
    output: sessionResult,
    annotations: { readOnlyHint: false, destructiveHint: false },
    run: ({ sessionId: id, ...request }, { by }) => sessions.resume(id, request, by),
  })
