import { setTimeout as delay } from 'node:timers/promises'
import { MODELS } from '../session.js'
import type { Turn } from '../turn.js'
import { firstAndRest, wholeNumber } from './argument.js'

const MAX_CHUNKS = 10_000_000
const MAX_DELAY_MS = 600_000
const MAX_TOKENS = 1_000_000_000
/** Chunks between two looks at the client's appetite and at a cancel. */
const CHUNKS_AT_ONCE = 64

export async function stream(turn: Turn, argument: string): Promise<void> {
  const [count, pause] = firstAndRest(argument)
  const chunks = wholeNumber(count, 10, MAX_CHUNKS)
  const pauseMs = wholeNumber(pause, 0, MAX_DELAY_MS)
  for (let i = 1; i <= chunks && !turn.signal.aborted; i++) {
    turn.say(`chunk ${i}\n`)
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal: turn.signal })
    else if (i % CHUNKS_AT_ONCE === 0) await turn.around.output.room()
  }
}

export function think(turn: Turn, argument: string): void {
  const subject = argument || 'the prompt'
  for (const text of [`Let me think about ${subject}. `, 'It is not hard. ', 'I am done.']) turn.say(text, 'thought')
  turn.say(`I thought about ${subject}.`)
}

const STEPS = ['Look around', 'Do the work', 'Check the result'] as const

export function plan(turn: Turn): void {
  for (let done = 0; done <= STEPS.length; done++) {
    const entries = STEPS.map((content, i) => ({ content, priority: 'medium' as const, status: stepStatus(i, done) }))
    turn.update({ sessionUpdate: 'plan', entries })
  }
  turn.say('The plan is done.')
}

function stepStatus(index: number, done: number): 'completed' | 'in_progress' | 'pending' {
  if (index < done) return 'completed'
  return index === done ? 'in_progress' : 'pending'
}

/** Cost is the sum of the conversation, as ACP says; tokens are those of the turn. */
export function usage(turn: Turn, argument: string): void {
  const { modelId, turnCount } = turn.session.state
  const [sum, tokens] = firstAndRest(argument)
  const size = MODELS.find(({ id }) => id === modelId)?.contextTokens ?? MODELS[0].contextTokens
  const used = wholeNumber(tokens, 1_000 * turnCount, MAX_TOKENS)
  const amount = sum === '' ? turnCount / 100 : Number(sum)
  turn.update({ sessionUpdate: 'usage_update', used, size, cost: { amount, currency: 'USD' } })
  turn.answer.usage = { inputTokens: used, outputTokens: 10, totalTokens: used + 10 }
  turn.say(`${modelId} has used ${used} of ${size} tokens.`)
}

export function recall(turn: Turn): void {
  const { turns, turnCount } = turn.session.state
  const firstNumber = turnCount - turns.length
  const lines = turns.map(({ prompt }, i) => `${firstNumber + i}: ${prompt}`)
  turn.say(lines.length > 0 ? lines.join('\n') : 'There was nothing before.')
}
