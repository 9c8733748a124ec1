import type { AgentAnswer, AgentRequest } from '@agentproto/contracts'
import { type AgentCase, type CaseAgent, CaseFailure } from './agent-case.js'
import { CaseTurn, seconds } from './case-turn.js'
import { excerpt, textOf } from './turn-signals.js'

export const permissionCase: AgentCase = {
  id: 'permission',
  title: 'a permission is requested, and the agent gets the answer',
  about: 'permission',
  async run(around) {
    const { agent } = around
    agent.sink.onAsk = async (request) => allowed(request)
    const turn = new CaseTurn(around.prompts.permission ?? '', around)
    const { signals } = await turn.answered()
    const { title, options } = permissionIn(agent, excerpt(textOf(signals)))
    return `requested: ${excerpt(title)} (${options.map(({ kind }) => kind).join(', ')})`
  },
}

export const permissionCancelCase: AgentCase = {
  id: 'permission-cancel',
  title: 'a cancel while the agent asks takes the request back and ends the turn',
  about: 'permission',
  async run(around) {
    const { agent, limits, clock } = around
    agent.sink.onAsk = undefined
    const turn = new CaseTurn(around.prompts.permission ?? '', around)
    if (!(await turn.asked())) permissionIn(agent, 'the turn ended')
    const from = clock.now()
    await agent.cancel()
    const { end } = await turn.ended(limits.cancelMs)
    const tookMs = clock.now() - from
    if (end.reason !== 'cancelled')
      throw new CaseFailure('a turn that ends with cancelled', `it ended with ${end.reason}`)
    if (agent.sink.asked.some(({ signal }) => !signal.aborted))
      throw new CaseFailure('a request that is taken back', 'it waits, although its turn has ended')
    return `the turn ended as cancelled within ${seconds(tookMs)}`
  },
}

interface Requested {
  readonly title: string
  readonly options: Extract<AgentRequest, { kind: 'permission' }>['options']
}

/** The first permission that was requested. @throws `CaseFailure` without one that a person could decide about */
function permissionIn({ sink }: CaseAgent, instead: string): Requested {
  const request = sink.asked.map((asked) => asked.request).find(({ kind }) => kind === 'permission')
  if (request?.kind !== 'permission') throw new CaseFailure('a permission request', `none: ${instead}`)
  const { options, toolCall } = request
  const kinds = options.map(({ kind }) => kind)
  if (kinds.some((kind) => kind.startsWith('allow')) && kinds.some((kind) => kind.startsWith('reject')))
    return { title: toolCall.title ?? '', options }
  throw new CaseFailure('an option to allow and one to reject', kinds.join(', ') || 'no options')
}

/** The first option that allows it once; whatever else is asked is cancelled. */
function allowed(request: AgentRequest): AgentAnswer {
  const option = request.kind === 'permission' ? request.options.find(({ kind }) => kind === 'allow_once') : undefined
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId }
}
