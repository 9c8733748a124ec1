import {
  type AgentRequest,
  type Choice,
  hasSecondStep,
  permissionChoices,
  questionChoices,
} from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { exactLine } from '../render/exact.js'
import type { AskedRequest } from '../render/request-content.js'

/** A choice and the keys that lead to it; the first one is shown. */
export interface KeyedChoice extends Omit<Choice, 'key' | 'leads'> {
  readonly keys: readonly string[]
  readonly leads: AnswerRequest | readonly KeyedChoice[]
}

/** The choices of a request; every option of the agent also has its number. */
export function choicesOf({ request, facts, session }: AskedRequest): readonly KeyedChoice[] {
  const workspace = session.workspaceSlug
  const choices =
    request.kind === 'question'
      ? questionChoices(request.mode)
      : permissionChoices(request, { facts, workspace, mayRuleWorkspace: true, quote: exactLine })
  const numbered = numberedOf(request)
  return choices.map((choice, index) => keyed(choice, index < numbered ? [String(index + 1)] : []))
}

/** How many of the first choices are options of the agent that a digit can stand for. */
const numberedOf = (request: AgentRequest): number =>
  request.kind === 'permission' ? Math.min(request.options.length, 9) : 0

function keyed({ key, leads, ...choice }: Choice, numbers: readonly string[] = []): KeyedChoice {
  return {
    ...choice,
    keys: [...(key === '' ? [] : [key]), ...numbers],
    leads: hasSecondStep(leads) ? leads.map((each) => keyed(each)) : leads,
  }
}
