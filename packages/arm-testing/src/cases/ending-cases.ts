import { type AgentCase, CaseFailure, CaseSkipped } from './agent-case.js'
import { CaseTurn, GOES_ON_MS, seconds } from './case-turn.js'
import { excerpt, textOf } from './turn-signals.js'

export const cancelCase: AgentCase = {
  id: 'cancel',
  title: 'F20 a cancelled turn ends in time, and the session goes on',
  about: 'long',
  async run(around) {
    const { agent, prompts, limits, clock } = around
    const turn = new CaseTurn(prompts.long, around)
    await turn.begun()
    if (await turn.endsWithin(GOES_ON_MS))
      throw new CaseSkipped('the turn ended before it could be cancelled: use a longer prompt')
    const from = clock.now()
    await Promise.all([agent.cancel(), agent.cancel()])
    const { end } = await turn.ended(limits.cancelMs)
    const tookMs = clock.now() - from
    if (end.reason !== 'cancelled')
      throw new CaseFailure('a turn that ends with cancelled', `it ended with ${end.reason}`)
    // When nothing runs it does nothing.
    await agent.cancel()
    const next = await new CaseTurn(prompts.answer, around).answered()
    return `it ended within ${seconds(tookMs)}; the next answer: ${excerpt(textOf(next.signals))}`
  },
}

export const endCase: AgentCase = {
  id: 'end',
  title: 'closing leaves nothing, and can be done twice at once',
  about: 'none',
  async run({ agent }) {
    await Promise.all([agent.end(), agent.end()])
    requireNothing(agent.living())
    return 'nothing of it runs'
  },
}

export const endInTurnCase: AgentCase = {
  id: 'end-in-turn',
  title: 'closing in the middle of a turn ends the turn, once',
  about: 'long',
  async run(around) {
    const { agent, limits } = around
    const turn = new CaseTurn(around.prompts.long, around)
    await turn.begun()
    if (await turn.endsWithin(GOES_ON_MS))
      throw new CaseSkipped('the turn ended before its agent could be: use a longer prompt')
    await agent.end()
    const { end } = await turn.ended(limits.cancelMs)
    requireNothing(agent.living())
    if (end.reason !== 'cancelled')
      throw new CaseFailure('a turn that ends with cancelled', `it ended with ${end.reason}`)
    return 'its turn ended as cancelled, and nothing of it runs'
  },
}

function requireNothing(living: readonly string[]): void {
  if (living.length > 0) throw new CaseFailure('no process that outlives it', living.map(excerpt).join(', '))
}
