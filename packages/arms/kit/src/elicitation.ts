import {
  type AgentAnswer,
  asRecord,
  asString,
  defined,
  type Json,
  type PermissionRequest,
  type QuestionRequest,
} from '@agentproto/contracts'
import type { ToolUpdate } from './tool-calls.js'

/** What an agent asks its user: a question, or a permission whose tool call need not be known yet. */
export type UserAsk = QuestionRequest | (Omit<PermissionRequest, 'toolCall'> & { readonly toolCall: ToolUpdate })

/** Reads the parameters of `elicitation/create`, which ACP has from MCP; undefined for an unknown mode. */
export function questionOf(params: Json): QuestionRequest | undefined {
  // Servers older than the modes name none.
  const { mode = 'form', message, requestedSchema } = params
  const url = asString(params['url'])
  if ((mode !== 'form' && mode !== 'url') || (mode === 'url' && url === undefined)) return undefined
  const schema = mode === 'form' ? asRecord(requestedSchema) : undefined
  const toolCallId = asString(params['toolCallId'])
  return { kind: 'question', mode, message: asString(message) ?? '', ...defined({ schema, url, toolCallId }) }
}

/** The result of `elicitation/create`. @param because what the protocol adds about why no person answered */
export function elicitationResult(answer: AgentAnswer, because: Json): Json {
  switch (answer.outcome) {
    case 'accept':
      return { action: 'accept', ...defined({ content: answer.content }) }
    case 'decline':
      return { action: 'decline', ...because }
    case 'selected':
    case 'cancelled':
      return { action: 'cancel', ...because }
  }
}
