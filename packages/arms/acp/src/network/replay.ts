import { asRecord, asString, type ContentBlock, type Json, promptText } from '@agentproto/contracts'
import { isContentBlock } from '@agentproto/arm-kit'
import { AGENT_BOUNDS } from '../agent-bounds.js'

/** What of a turn is text. */
export type Said = 'text-delta' | 'thought'

/** What was received of a turn. */
export interface KnownTurn {
  /** The {@link promptKey} of its prompt. */
  readonly prompt: string
  readonly said: Record<Said, string>
  readonly calls: Set<string>
  /** Whether all of its text is there. */
  isWhole: boolean
}

/** What two prompts are compared by: agents cut a prompt into pieces of their own. */
export const promptKey = (blocks: readonly ContentBlock[]): string => promptText(blocks).replaceAll(/\s+/g, '')

interface Prompt {
  key: string
  /** The number of its turn, of an agent that numbers them. */
  number: number | undefined
}

/** The prompts in a history. */
export class Prompts {
  #all: Prompt[] = []
  #chars = 0
  #isInPrompt = false

  /** The key of the last one. */
  get last(): string {
    return this.#all.at(-1)?.key ?? ''
  }

  /** The number of the turn of a prompt. An agent may write a prompt in another way: the only one is that one. */
  numberOf(key: string | undefined): number | undefined {
    const same = this.#all.findLast((prompt) => prompt.key === key)
    return (same ?? (this.#all.length === 1 ? this.#all[0] : undefined))?.number
  }

  /** Returns whether the update is part of a prompt. */
  add(update: Json, turn?: number): boolean {
    const isPrompt = update['sessionUpdate'] === 'user_message_chunk'
    if (isPrompt && !this.#isInPrompt) this.#begin()
    this.#isInPrompt = isPrompt
    const prompt = this.#all.at(-1)
    if (!isPrompt || !prompt) return false
    const { content } = update
    if (isContentBlock(content)) this.#extend(prompt, promptKey([content]))
    prompt.number ??= turn
    return true
  }

  #begin(): void {
    this.#all.push({ key: '', number: undefined })
    if (this.#all.length > AGENT_BOUNDS.historyPrompts) this.#drop()
  }

  #extend(prompt: Prompt, text: string): void {
    const more = text.slice(0, AGENT_BOUNDS.historyPromptChars - prompt.key.length)
    prompt.key += more
    this.#chars += more.length
    while (this.#chars > AGENT_BOUNDS.historyChars) this.#drop()
  }

  #drop(): void {
    this.#chars -= this.#all.shift()?.key.length ?? 0
  }
}

const SAID: { readonly [update: string]: Said | undefined } = {
  agent_message_chunk: 'text-delta',
  agent_thought_chunk: 'thought',
}
const CALLS: ReadonlySet<unknown> = new Set(['tool_call', 'tool_call_update'])
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed'])

/** Whether an update is part of a turn. */
export const isOfTurn = ({ sessionUpdate }: Json): boolean =>
  SAID[String(sessionUpdate)] !== undefined || CALLS.has(sessionUpdate)

/**
 * The history that an agent replays, compared with what was received of the turn that was lost: new is what follows the text
 * that is known, and what is said of tool calls. Where the history does not begin as the turn did, nothing of it is new.
 */
export class Replay {
  readonly #known: KnownTurn
  readonly #prompts = new Prompts()
  /** What follows the last prompt. */
  #updates: Json[] = []
  #chars = 0
  #isWhole = true

  constructor(known: KnownTurn) {
    this.#known = known
  }

  /** Returns whether the update is part of a turn: it is held until the history is complete. */
  add(update: Json): boolean {
    if (this.#prompts.add(update)) {
      this.#updates = []
      this.#chars = 0
      this.#isWhole = true
      return true
    }
    if (!isOfTurn(update)) return false
    this.#chars += JSON.stringify(update).length
    if (this.#updates.length < AGENT_BOUNDS.historyUpdates && this.#chars <= AGENT_BOUNDS.historyChars)
      this.#updates.push(update)
    else this.#isWhole = false
    return true
  }

  /** The updates of the turn that are new, in order. */
  news(): readonly Json[] {
    const { prompt, isWhole, said, calls } = this.#known
    if (!this.#isWhole || !isWhole || this.#prompts.last !== prompt) return []
    const left = { ...said }
    const news = this.#updates.flatMap((update) => this.#new(update, left))
    const isSame = left['text-delta'] === '' && left.thought === ''
    const isAnchored = said['text-delta'] !== '' || said.thought !== '' || this.#mentions(calls)
    return isSame && isAnchored ? news : []
  }

  #new(update: Json, left: Record<Said, string>): readonly Json[] {
    const said = SAID[String(update['sessionUpdate'])]
    return said === undefined ? this.#newOfCall(update) : newText(update, said, left)
  }

  /** An end is never doubled; what else is said again of a known call is not new. */
  #newOfCall(update: Json): readonly Json[] {
    const isNew = !this.#known.calls.has(String(update['toolCallId'])) || ENDED.has(update['status'])
    return isNew ? [update] : []
  }

  #mentions(calls: ReadonlySet<string>): boolean {
    return this.#updates.some(({ toolCallId }) => typeof toolCallId === 'string' && calls.has(toolCallId))
  }
}

/** What an update says after the text that is known; the known text that it repeats is taken from `left`. */
function newText(update: Json, said: Said, left: Record<Said, string>): readonly Json[] {
  const content = asRecord(update['content'])
  const text = asString(content['text']) ?? ''
  const known = left[said]
  if (known === '') return [update]
  if (known.startsWith(text)) {
    left[said] = known.slice(text.length)
    return []
  }
  // What differs stays in `left`.
  if (!text.startsWith(known)) return []
  left[said] = ''
  return [{ ...update, content: { ...content, text: text.slice(known.length) } }]
}
