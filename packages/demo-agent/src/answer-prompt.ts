import { promptSteps, type Step } from './prompt-text.js'
import type { Turn } from './turn.js'
import { WORDS } from './words.js'

/** Does what the prompt says, and settles when the turn can be answered. */
export async function answerPrompt(turn: Turn): Promise<void> {
  try {
    for (const step of promptSteps(turn.prompt)) {
      const done = doStep(turn, step)
      if (done) await done
      if (turn.signal.aborted) break
    }
  } catch (error) {
    // A word that waited throws when the turn is cancelled; that is no failure.
    if (!turn.signal.aborted) throw error
  }
  if (turn.signal.aborted) turn.answer.stopReason = 'cancelled'
}

function doStep(turn: Turn, { word, argument, text }: Step): void | Promise<void> {
  const known = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
  return known ? known.run(turn, argument) : turn.say(`echo: ${text}`)
}
