import { defined, asList, asRecord, asString } from '@agentproto/contracts'
import type {
  AgentAnswer,
  AgentRequest,
  PermissionOption,
  PermissionOptionKind,
  ToolCall,
  Json,
} from '@agentproto/contracts'
import type { ToolUpdate } from '@agentproto/arm-kit'
import { parseToolUpdate } from './tool-call.js'

/** Requests of the agent that its user answers. Read leniently: a strict reader refuses real agents. */
export interface UserRequest {
  /** What the agent said of the tool call that waits. */
  readonly tool?: ToolUpdate
  /** The request as its host sees it. */
  readonly request: AgentRequest
  /** The answer in ACP's words. */
  readonly reply: (answer: AgentAnswer) => object
}

const KINDS: ReadonlySet<unknown> = new Set<PermissionOptionKind>([
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
])

/** Reads `session/request_permission`; undefined when there is nothing to choose from. */
export function permissionRequest(params: Json, toolCall: (tool: ToolUpdate) => ToolCall): UserRequest | undefined {
  const tool = parseToolUpdate(asRecord(params['toolCall']))
  const options = asList(params['options']).flatMap(optionOf)
  if (!tool || options.length === 0) return undefined
  const ids = new Set(options.map(({ optionId }) => optionId))
  const reply = (answer: AgentAnswer): object => {
    const chosen = answer.outcome === 'selected' && ids.has(answer.optionId)
    const outcome = chosen ? { outcome: 'selected', optionId: answer.optionId } : { outcome: 'cancelled' }
    return { outcome, ...because(answer) }
  }
  return { tool, request: { kind: 'permission', toolCall: toolCall(tool), options }, reply }
}

/** Reads `elicitation/create`; undefined for a mode that nobody here knows. */
export function questionRequest(params: Json): UserRequest | undefined {
  const { mode, message, requestedSchema: schema } = params
  if (mode !== 'form' && mode !== 'url') return undefined
  const url = asString(params['url'])
  if (mode === 'url' && url === undefined) return undefined
  return {
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

/** ACP has no word for why a person was not asked, or did not answer: extensions go into `_meta`. */
const because = (answer: AgentAnswer): object =>
  'reason' in answer && answer.reason !== undefined ? { _meta: { agentproto: { reason: answer.reason } } } : {}

/**
 * An option of an unknown kind becomes one that is never chosen without a person: `allow_once` and the
 * rejections are picked by permission modes.
 */
function optionOf(entry: unknown): PermissionOption[] {
  const { optionId, name, kind } = asRecord(entry)
  if (typeof optionId !== 'string') return []
  const known = KINDS.has(kind) ? (kind as PermissionOptionKind) : 'allow_always'
  return [{ optionId, name: asString(name) ?? optionId, kind: known }]
}
