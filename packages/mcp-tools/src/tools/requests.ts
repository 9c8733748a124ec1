import { answerRequestSchema, parseWire, REQUEST_STATES, toAgentAnswer } from '@agentproto/contracts'
import * as z from 'zod'
import { sessionId } from '../results.js'
import { defineTool } from '../tool.js'
import type { Tool } from '../tool.js'
import type { ToolSessions } from '../tool-services.js'

/** The tool that answers what an agent asks. */
export function requestTools(sessions: ToolSessions): readonly Tool[] {
  return [answer(sessions)]
}

const [byOption, byAction] = answerRequestSchema.options

const answer = (sessions: ToolSessions): Tool =>
  defineTool({
    name: 'answer_agent_request',
    description: 'Answer a permission with one of its optionIds, or a question with an action and its content.',
    // The list shows an object, so the two kinds are one here and told apart after it.
    input: z.strictObject({
      sessionId,
      requestId: z.string().min(1),
      optionId: byOption.shape.optionId.optional(),
      remember: byOption.shape.remember,
      action: byAction.shape.action.optional(),
      content: byAction.shape.content,
    }),
    output: z.looseObject({ requestId: z.string(), sessionId: z.string(), state: z.enum(REQUEST_STATES) }),
    annotations: { readOnlyHint: false, openWorldHint: false },
    run: ({ sessionId: id, requestId, ...given }, { by }) =>
      sessions.answer({ id, requestId }, toAgentAnswer(parseWire(answerRequestSchema, given, 'answer')), by),
  })
