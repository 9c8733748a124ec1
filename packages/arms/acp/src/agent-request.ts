import {
  type AgentAnswer,
  type AgentRequest,
  asList,
  asRecord,
  asString,
  defined,
  type Json,
  type PermissionOption,
  type PermissionOptionKind,
} from '@agentproto/contracts'
import type { ToolUpdate } from '@agentproto/arm-kit'
import { parseToolUpdate } from './tool-call.js'

/** A request of the agent that the user answers, and the answer in ACP's terms. */
export type AgentAsk =
  | {
      readonly kind: 'permission'
      readonly tool: ToolUpdate
      readonly options: readonly PermissionOption[]
      readonly reply: (answer: AgentAnswer) => object
    }
  | { readonly kind: 'question'; readonly request: AgentRequest; readonly reply: (answer: AgentAnswer) => object }

const KINDS: ReadonlySet<unknown> = new Set<PermissionOptionKind>([
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
])

/** Reads `session/request_permission`; undefined when there is nothing to choose from. */
export function permissionRequest(params: Json): AgentAsk | undefined {
  const tool = parseToolUpdate(asRecord(params['toolCall']))
  const options = asList(params['options']).flatMap(optionOf)
  if (!tool || options.length === 0) return undefined
  const ids = new Set(options.map(({ optionId }) => optionId))
  const reply = (answer: AgentAnswer): object => {
    const chosen = answer.outcome === 'selected' && ids.has(answer.optionId)
    const outcome = chosen ? { outcome: 'selected', optionId: answer.optionId } : { outcome: 'cancelled' }
    return { outcome, ...because(answer) }
  }
  return { kind: 'permission', tool, options, reply }
}

/** Reads `elicitation/create`; undefined for an unknown mode. */
export function questionRequest(params: Json): AgentAsk | undefined {
  const { mode, message, requestedSchema: schema } = params
  if (mode !== 'form' && mode !== 'url') return undefined
  const url = asString(params['url'])
  if (mode === 'url' && url === undefined) return undefined
  return {
    kind: 'question',
    request: {
      kind: 'question',
      mode,
      message: asString(message) ?? '',
      ...defined({
        schema: mode === 'form' ? (schema ?? {}) : undefined,
        url,
        toolCallId: asString(params['toolCallId']),
      }),
    },
    reply: answerQuestion,
  }
}

function answerQuestion(answer: AgentAnswer): object {
  switch (answer.outcome) {
    case 'accept':
      return { action: 'accept', ...defined({ content: answer.content }) }
    case 'decline':
      return { action: 'decline', ...because(answer) }
    case 'selected':
    case 'cancelled':
      return { action: 'cancel', ...because(answer) }
  }
}

/** ACP has no field for why a request was not answered: extensions go into `_meta`. */
const because = (answer: AgentAnswer): object =>
  'reason' in answer && answer.reason !== undefined ? { _meta: { agentproto: { reason: answer.reason } } } : {}

/**
 * An option of an unknown kind becomes `allow_always`, which only the user can choose: permission modes choose `allow_once`
 * and the rejections.
 */
function optionOf(entry: unknown): PermissionOption[] {
  const { optionId, name, kind } = asRecord(entry)
  if (typeof optionId !== 'string') return []
  const known = KINDS.has(kind) ? (kind as PermissionOptionKind) : 'allow_always'
  return [{ optionId, name: asString(name) ?? optionId, kind: known }]
}
