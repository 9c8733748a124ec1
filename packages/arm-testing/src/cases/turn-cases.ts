import { type AgentCase, CaseFailure, CaseSkipped } from './agent-case.js'
import { CaseTurn, GOES_ON_MS } from './case-turn.js'
import { excerpt, textOf } from './turn-signals.js'

export const answerCase: AgentCase = {
  id: 'answer',
  title: 'F9 a turn gives its text and one end',
  about: 'answer',
  async run(around) {
    const { signals } = await new CaseTurn(around.prompts.answer, around).answered()
    const text = textOf(signals)
    if (text.trim() === '') throw new CaseFailure('text', 'the turn has none')
    return excerpt(text)
  },
}

export const streamCase: AgentCase = {
  id: 'stream',
  title: 'text comes while the turn runs, and not with its end',
  about: 'long',
  async run(around) {
    const { clock, agent, limits } = around
    const from = clock.now()
    const turn = new CaseTurn(around.prompts.long, around)
    await turn.begun(({ type }) => type === 'text-delta')
    const firstMs = clock.now() - from
    const isOver = await turn.endsWithin(GOES_ON_MS)
    const pieces = turn.signals.filter(({ type }) => type === 'text-delta').length
    await agent.cancel()
    await turn.ended(limits.answerMs)
    if (pieces === 0) throw new CaseFailure('text', 'the turn ended without any')
    if (isOver && pieces === 1)
      throw new CaseFailure('text in pieces', 'all of it came at once, with the end of the turn')
    return `the first text came after ${firstMs} ms`
  },
}

export const toolCase: AgentCase = {
  id: 'tool',
  title: 'a tool call that is announced is also completed',
  about: 'tool',
  async run(around) {
    const { signals } = await new CaseTurn(around.prompts.tool ?? '', around).answered()
    const calls = new Set(signals.flatMap((signal) => (signal.type === 'tool-call' ? [signal.toolCallId] : [])))
    const open = signals.filter((signal) => signal.type === 'tool-result' && signal.status === 'interrupted').length
    if (calls.size === 0) throw new CaseFailure('a tool call', `none: ${excerpt(textOf(signals))}`)
    if (open > 0) throw new CaseFailure('a result of each tool call', `${open} of ${calls.size} have none`)
    return `${calls.size} ${calls.size === 1 ? 'call' : 'calls'}, each with its result`
  },
}

export const loadCase: AgentCase = {
  id: 'load',
  title: 'a conversation goes on after the agent was ended and started again',
  about: 'answer',
  async run(around) {
    const { agent, prompts } = around
    if (agent.again === undefined) throw new CaseSkipped('the agent offers neither load nor resume')
    await new CaseTurn(prompts.answer, around).answered()
    await agent.end()
    const next = await agent.again()
    try {
      const { signals } = await new CaseTurn(prompts.answer, around, next).answered()
      return `it went on: ${excerpt(textOf(signals))}`
    } finally {
      await next.end()
    }
  },
}
