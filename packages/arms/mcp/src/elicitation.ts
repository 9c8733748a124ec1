import { elicitationResult, questionOf, type ToolUpdate, type UserAsk } from '@agentproto/arm-kit'
import { type AgentAnswer, asRecord, asString, defined, type Json } from '@agentproto/contracts'
import { parsePath, valueAt } from './path.js'
import type { PermissionRule } from './profile.js'
import { toolAt } from './vendor-event.js'

/** What a server asks of its user, and how it is answered. */
export interface Elicitation {
  readonly ask: UserAsk
  /** The rule of the manifest by which it is a permission. */
  readonly rule?: PermissionRule
  readonly result: (answer: AgentAnswer) => Json
}

/**
 * Reads `elicitation/create`: a permission where a rule of the manifest says so, else a question. Undefined for a
 * unknown mode.
 */
export function readElicitation(params: Json, rules: readonly PermissionRule[]): Elicitation | undefined {
  const rule = rules.find(({ when }) => Object.entries(when).every(([at, is]) => valueAt(params, parsePath(at)) === is))
  const tool = rule && toolAt(params, rule.toolCall)
  if (rule !== undefined && tool !== undefined) return permission(rule, tool, params)
  const ask = questionOf(params)
  return ask && { ask, result: questionResult }
}

function permission(rule: PermissionRule, tool: Omit<ToolUpdate, 'status'>, params: Json): Elicitation {
  const options = rule.options.map(({ optionId, name, kind }) => ({ optionId, name: name ?? optionId, kind }))
  const result = (answer: AgentAnswer): Json => {
    const chosen =
      answer.outcome === 'selected' ? rule.options.find(({ optionId }) => optionId === answer.optionId) : undefined
    return chosen?.reply ?? rule.cancelled
  }
  const title = tool.title ?? asString(params['message'])
  return { ask: { kind: 'permission', toolCall: { ...tool, ...defined({ title }) }, options }, rule, result }
}

const REASON = 'agentproto/reason'
const NOT_ASKED = 'not asked'

/** The answer to a question that cannot be shown to the user. It says so, also to a later host. */
export const notAsked = ({ result }: Elicitation): Json => ({
  ...result({ outcome: 'cancelled' }),
  _meta: { [REASON]: NOT_ASKED },
})

/** Whether that is the answer of a host that has not asked. */
export const isNotAsked = ({ result }: Json): boolean => asRecord(asRecord(result)['_meta'])[REASON] === NOT_ASKED

/** MCP has no word for why a person was not asked, or did not answer: extensions go into `_meta`. */
function questionResult(answer: AgentAnswer): Json {
  if (answer.outcome === 'accept') return elicitationResult({ content: {}, ...answer }, {})
  return elicitationResult(answer, answer.reason === undefined ? {} : { _meta: { [REASON]: answer.reason } })
}
