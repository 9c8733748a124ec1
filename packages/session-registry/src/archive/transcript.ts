import {
  addGap,
  type EventGap,
  promptText,
  type SessionEvent,
  type ToolCall,
  type ToolResult,
  type Turn,
} from '@agentproto/contracts'
import type { TurnTranscript } from '@agentproto/contracts/wire'
import { gapText, type LogItem } from '../log/log-gap.js'
import { LoggedTurns } from '../turns/turn-history.js'

/** The conversation turn by turn, for exports and transcripts. */

/** Text of one turn in a transcript, in characters; the rest is left out and marked. */
const MAX_TEXT = 4 * 1024 * 1024
const MAX_TOOLS = 10_000

/** Each turn as soon as it has ended; the running one at the end. */
export async function* transcriptOf(items: AsyncIterable<LogItem>): AsyncGenerator<TurnTranscript> {
  const turns = new LoggedTurns()
  let said = new Said()
  let gap: EventGap | undefined
  for await (const item of items) {
    if (item.type === 'gap') {
      gap = item.gap
      turns.lost = gap
      said.skip(gap)
      continue
    }
    for (const ended of turns.follow(item)) {
      yield said.of(ended)
      // The lost events may belong to either of the two turns.
      said = new Said().skip(gap)
    }
    gap = undefined
    if (item.type === 'user-prompt') said = new Said(promptText(item.content))
    said.take(item)
  }
  if (turns.current !== undefined) yield said.of(turns.current)
}

/** The text and the tool calls of one turn so far. */
class Said {
  readonly #prompt: string
  #text = ''
  readonly #gaps: EventGap[] = []
  readonly #tools = new Map<string, { readonly name: string; readonly status: string }>()

  constructor(prompt = '') {
    this.#prompt = prompt
  }

  take(event: SessionEvent): void {
    if (event.type === 'text-delta') this.#say(event.text)
    if (event.type === 'tool-call' || event.type === 'tool-result') this.#use(event)
  }

  skip(gap: EventGap | undefined): this {
    if (gap === undefined) return this
    addGap(this.#gaps, gap)
    this.#say(`${this.#text === '' || this.#text.endsWith('\n') ? '' : '\n'}[gap] ${gapText(gap)}\n`)
    return this
  }

  #say(text: string): void {
    if (this.#text.length >= MAX_TEXT) return
    this.#text += text
    if (this.#text.length >= MAX_TEXT) this.#text += '…'
  }

  #use({ toolCallId, title, toolName, status }: ToolCall | ToolResult): void {
    const known = this.#tools.get(toolCallId)
    if (known === undefined && this.#tools.size >= MAX_TOOLS) return
    const name = title ?? toolName ?? known?.name ?? toolCallId
    this.#tools.set(toolCallId, { name, status: status ?? known?.status ?? 'pending' })
  }

  of(turn: Turn): TurnTranscript {
    const gaps = this.#gaps.length === 0 ? {} : { gaps: this.#gaps }
    return { ...turn, prompt: this.#prompt, text: this.#text, tools: [...this.#tools.values()], ...gaps }
  }
}

/** One turn as Markdown. The text of agents is Markdown already. */
export function turnAsMarkdown({ number, prompt, text, tools, reason, error, state }: TurnTranscript): string {
  const parts = [`## Turn ${number}`, quoted(prompt)]
  if (tools.length > 0) parts.push(tools.map(({ name, status }) => `- \`${oneLine(name)}\` (${status})`).join('\n'))
  if (text.trim() !== '') parts.push(text.trim())
  if (error !== undefined) parts.push(`**Error:** ${oneLine(error)}`)
  if (state === 'running') parts.push('*The turn is running.*')
  else if (reason !== 'end_turn') parts.push(`*Ended: ${reason}.*`)
  return `${parts.join('\n\n')}\n\n`
}

const quoted = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('`', '´').trim().slice(0, 500)
