import { say, type Answer, type Misfortune } from './answer.js'
import { currentTurn, type Conversation, type Message, type Tool, type Turn } from './conversation.js'
import { sampleOf } from './schema-sample.js'
import { toolUse } from './tool-use.js'
import { toolWords } from './tool-words.js'

const MAX_ECHO_CHARS = 200
const MAX_RESULT_CHARS = 160

/**
 * What the model does: the upper-case words of the last paragraph of the user decide. Anything
 * else is echoed.
 */
export function decide(asked: Conversation): Answer | Misfortune {
  const turn = currentTurn(asked.messages)
  const answer = misfortune(turn.last) ?? sideAnswer(asked, turn) ?? toolAnswer(asked, turn) ?? textAnswer(asked, turn)
  const thinks = answer.kind === 'answer' && /\bTHINK\b/.test(turn.last) && turn.results.length === 0
  return thinks ? { ...answer, thought: 'The user said something; I will answer.' } : answer
}

function misfortune(last: string): Misfortune | undefined {
  const failing = /\bFAIL(?: (\d{3}))?\b/.exec(last)
  if (failing) return { kind: 'status', status: Number(failing[1] ?? 500) }
  if (/\bMUTE\b/.test(last)) return { kind: 'mute' }
  return /\bGARBAGE\b/.test(last) ? { kind: 'garbage' } : undefined
}

/** Agents ask for titles and summaries in separate requests, without tools. */
function sideAnswer({ tools, system, answerSchema }: Conversation, { last }: Turn): Answer | undefined {
  if (answerSchema) return say(JSON.stringify(sampleOf(answerSchema)))
  const isSide = tools.length === 0 && /title|summar|topic|concise|slug|branch name/i.test(system + last)
  return isSide ? say('Mock title') : undefined
}

/** One tool word per answer, in order, or all at once with PARALLEL. */
function toolAnswer(asked: Conversation, turn: Turn): Answer | undefined {
  const words = asked.tools.length > 0 ? toolWords(turn.last) : []
  const done = turn.results.length
  const atOnce = /\bPARALLEL\b/.test(turn.last) ? words.length : 1
  const next = words.slice(done * atOnce, (done + 1) * atOnce)
  const calls = next.map((word) => toolUse(asked, word, turn.last))
  const missing = next.filter((_, i) => !calls[i]).map(({ word }) => `NO TOOL for ${word}. `)
  const found = calls.filter((call) => call !== undefined)
  if (found.length > 0) {
    const names = found.map(({ name }) => name).join(', ')
    return { ...say(...missing, `Calling ${names}. `), calls: found }
  }
  if (missing.length > 0) return say(...missing)
  const result = turn.results.at(-1)
  return result && resultAnswer(result)
}

const resultAnswer = ({ toolName = 'tool', text }: Message): Answer =>
  say('DONE ', `${toolName}: `, text.slice(0, MAX_RESULT_CHARS))

type TextWord = (asked: Conversation, turn: Turn, number: number | undefined) => Answer

/** The first of these words that the message has. */
const TEXT_WORDS: readonly (readonly [word: RegExp, answer: TextWord])[] = [
  [/\bREFUSE\b/, () => ({ ...say('I cannot do that.'), stop: 'refusal' })],
  [/\bMAXTOK\b/, () => ({ ...say('cut '), stop: 'max-tokens' })],
  [/\bRECALL\b/, (_, { earlier }) => say('RECALL:', earlier.at(-1) ?? '(none)')],
  [/\bCOUNT\b/, (_, { earlier }) => say(`COUNT:${earlier.length + 1}`)],
  [/\bTOOLS\b/, ({ tools }) => say('TOOLS:', tools.map(fullName).join(','))],
  [/\bSYS\b/, ({ system }) => say(`SYS:${system.length}`)],
  [/\bBIG (\d+)/, (_asked, _turn, kib = 1) => say('x'.repeat(1024 * kib))],
  [/\bSLOW(?: (\d+))?\b/, (_asked, _turn, chunkDelayMs = 200) => ({ ...say(...chunks('slow', 300)), chunkDelayMs })],
  [/\bSAY (\d+)/, (_asked, _turn, count = 1) => say(...chunks('chunk', count))],
  [/\bHANG\b/, () => ({ ...say('before hang '), breakOff: 'hang' })],
  [/\bDROP\b/, () => ({ ...say('one ', 'two ', 'three '), breakOff: 'drop' })],
]

const fullName = ({ namespace, name }: Tool): string => (namespace === undefined ? name : `${namespace}/${name}`)
const chunks = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}-${i + 1} `)

function textAnswer(asked: Conversation, turn: Turn): Answer {
  for (const [word, answer] of TEXT_WORDS) {
    const found = word.exec(turn.last)
    if (found) return answer(asked, turn, found[1] === undefined ? undefined : Number(found[1]))
  }
  return say('echo: ', turn.last.slice(0, MAX_ECHO_CHARS))
}
