import { elicitationResult, questionOf, type UserAsk } from '@agentproto/arm-kit'
import {
  type AgentAnswer,
  asList,
  asRecord,
  asString,
  type Json,
  PERMISSION_OPTION_KINDS,
  type PermissionOption,
} from '@agentproto/contracts'
import { parseToolUpdate } from './tool-call.js'

/** A request of the agent that the user answers, and the answer in ACP's terms. */
export interface AgentAsk {
  readonly ask: UserAsk
  readonly result: (answer: AgentAnswer) => object
}

const QUESTION = 'elicitation/create'

/** Whether the user answers the requests of a method. */
export const isAsk = (method: string): boolean => method === QUESTION || method === 'session/request_permission'

/** Reads a request that the user answers; undefined when it cannot be shown. */
export const askOf = (method: string, params: Json): AgentAsk | undefined =>
  method === QUESTION ? questionRequest(params) : permissionRequest(params)

const NOT_ASKED = 'not asked'

/** The answer to a request that cannot be shown to the user. It says so, also to a later host. */
export const cancelledAsk = (method: string): { readonly result: object } => {
  const because = { _meta: { agentproto: { reason: NOT_ASKED } } }
  return {
    result: { ...(method === QUESTION ? { action: 'cancel' } : { outcome: { outcome: 'cancelled' } }), ...because },
  }
}

/** Whether that is the answer of a host that has not asked. */
export const isNotAsked = ({ result }: Json): boolean =>
  asRecord(asRecord(asRecord(result)['_meta'])['agentproto'])['reason'] === NOT_ASKED

/** Reads `session/request_permission`; undefined when there is nothing to choose from. */
function permissionRequest(params: Json): AgentAsk | undefined {
  const toolCall = parseToolUpdate(asRecord(params['toolCall']))
  const options = asList(params['options']).flatMap(optionOf)
  if (!toolCall || options.length === 0) return undefined
  const ids = new Set(options.map(({ optionId }) => optionId))
  const result = (answer: AgentAnswer): object => {
    const chosen = answer.outcome === 'selected' && ids.has(answer.optionId)
    const outcome = chosen ? { outcome: 'selected', optionId: answer.optionId } : { outcome: 'cancelled' }
    return { outcome, ...because(answer) }
  }
  return { ask: { kind: 'permission', toolCall, options }, result }
}

/** Reads `elicitation/create`; undefined for an unknown mode. */
function questionRequest(params: Json): AgentAsk | undefined {
  const ask = questionOf(params)
  return ask && { ask, result: (answer) => elicitationResult(answer, because(answer)) }
}

/** ACP has no field for why a request was not answered: extensions go into `_meta`. */
const because = (answer: AgentAnswer): Json =>
  'reason' in answer && answer.reason !== undefined ? { _meta: { agentproto: { reason: answer.reason } } } : {}

/**
 * An option of an unknown kind becomes `allow_always`, which only the user can choose: permission modes choose `allow_once`
 * and the rejections.
 */
function optionOf(entry: unknown): PermissionOption[] {
  const { optionId, name, kind } = asRecord(entry)
  if (typeof optionId !== 'string') return []
  const known = PERMISSION_OPTION_KINDS.find((each) => each === kind) ?? 'allow_always'
  return [{ optionId, name: asString(name) ?? optionId, kind: known }]
}
