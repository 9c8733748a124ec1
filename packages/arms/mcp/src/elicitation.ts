import {
  type AgentAnswer,
  asRecord,
  asString,
  defined,
  type Json,
  type PermissionOption,
  type QuestionRequest,
} from '@agentproto/contracts'
import type { ToolUpdate } from '@agentproto/arm-kit'
import { parsePath, valueAt } from './path.js'
import type { PermissionRule } from './profile.js'
import { toolAt } from './vendor-event.js'

/** What a server asks of its user, and how it is answered. */
export type Elicitation =
  | {
      readonly kind: 'permission'
      readonly rule: PermissionRule
      readonly tool: ToolUpdate
      readonly options: readonly PermissionOption[]
      readonly reply: (answer: AgentAnswer) => Json
    }
  | { readonly kind: 'question'; readonly request: QuestionRequest; readonly reply: (answer: AgentAnswer) => Json }

/**
 * Reads `elicitation/create`: a permission where a rule of the manifest says so, else a question. Undefined for a
 * unknown mode.
 */
export function readElicitation(params: Json, rules: readonly PermissionRule[]): Elicitation | undefined {
  const rule = rules.find(({ when }) => Object.entries(when).every(([at, is]) => valueAt(params, parsePath(at)) === is))
  const tool = rule && toolAt(params, rule.toolCall)
  if (rule !== undefined && tool !== undefined) return permission(rule, tool, params)
  return question(params)
}

function permission(rule: PermissionRule, tool: ToolUpdate, params: Json): Elicitation {
  const options = rule.options.map(({ optionId, name, kind }) => ({ optionId, name: name ?? optionId, kind }))
  const reply = (answer: AgentAnswer): Json => {
    const chosen =
      answer.outcome === 'selected' ? rule.options.find(({ optionId }) => optionId === answer.optionId) : undefined
    return chosen?.reply ?? rule.cancelled
  }
  const title = tool.title ?? asString(params['message'])
  return { kind: 'permission', rule, tool: { ...tool, ...defined({ title }) }, options, reply }
}

function question(params: Json): Elicitation | undefined {
  // Servers older than the modes name none.
  const { mode = 'form', message, requestedSchema } = params
  const url = asString(params['url'])
  if ((mode !== 'form' && mode !== 'url') || (mode === 'url' && url === undefined)) return undefined
  const request: QuestionRequest = {
    kind: 'question',
    mode,
    message: asString(message) ?? '',
    ...(mode === 'form' ? { schema: asRecord(requestedSchema) } : defined({ url })),
  }
  return { kind: 'question', request, reply: answerQuestion }
}

function answerQuestion(answer: AgentAnswer): Json {
  switch (answer.outcome) {
    case 'accept':
      return { action: 'accept', content: answer.content ?? {} }
    case 'decline':
      return { action: 'decline', ...because(answer) }
    case 'selected':
    case 'cancelled':
      return { action: 'cancel', ...because(answer) }
  }
}

/** MCP has no word for why a person was not asked, or did not answer: extensions go into `_meta`. */
const because = (answer: AgentAnswer): Json =>
  'reason' in answer && answer.reason !== undefined ? { _meta: { 'agentproto/reason': answer.reason } } : {}
