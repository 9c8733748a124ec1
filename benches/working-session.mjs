// The events of an agent at work, turn after turn: thoughts, tool calls with output, and answers in Markdown, word by word.

/** Of one turn. */
const EVENTS = 50
const WORDS = 30

/** @returns type and members of the event with this number */
export function workingEvent(seq) {
  const turn = 4 + Math.floor(seq / EVENTS)
  return { turn, ...stepOf(seq % EVENTS, turn) }
}

/** Words of the last turn that is whole, as a page shows them, when a session has so many events. */
export const lastWords = (events) => `What changed in turn ${3 + Math.floor(events / EVENTS)}`

function stepOf(step, turn) {
  if (step === 0) return { type: 'user-prompt', content: [{ type: 'text', text: `Change file ${turn}` }] }
  if (step < 10) return { type: 'thought', text: `thought ${step} of turn ${turn}. ` }
  if (step < 18) return toolStep(step, turn)
  if (step < 18 + WORDS) return { type: 'text-delta', text: wordOf(step - 18, turn) }
  if (step === EVENTS - 2) return { type: 'usage', used: turn * 100, size: 1_000_000 }
  return { type: 'turn-end', reason: 'end_turn' }
}

function toolStep(step, turn) {
  const toolCallId = `call-${turn}-${step >> 1}`
  if (step % 2 === 0)
    return { type: 'tool-call', toolCallId, title: `Read file-${turn}.ts`, kind: 'read', status: 'in_progress' }
  return { type: 'tool-result', toolCallId, status: 'completed', output: `line of ${toolCallId}\n`.repeat(20) }
}

function wordOf(word, turn) {
  if (word === 0) return `## What changed in turn ${turn}\n\n`
  if (word === 10) return '\n\n```ts\nconst answer = 42\n'
  if (word === 15) return '```\n\n'
  return word % 5 === 0 ? `- a point with \`code\` and **weight**\n` : `word ${word} `
}
