import type { PlanEntry } from './notice.js'
import type { EventGap, SessionEvent } from './event-log.js'
import type { ToolCall, ToolResult } from './tool-call.js'

/** The output of a turn: its events merged into parts. */

/** Present if something was cut; the log has all of it. */
export interface PartCut {
  readonly originalChars: number
}

export interface TextPart {
  readonly type: 'text' | 'thought'
  readonly text: string
  readonly cut?: PartCut
}

/** One tool call, its upserts merged. */
export interface ToolPart extends Omit<ToolResult, 'type' | 'status'> {
  readonly type: 'tool'
  readonly status: NonNullable<ToolCall['status']> | ToolResult['status']
  readonly cut?: PartCut
}

/** The last version of the plan. */
export interface PlanPart {
  readonly type: 'plan'
  readonly entries: readonly PlanEntry[]
}

export type TurnPart = TextPart | ToolPart | PlanPart

/** The output of one turn. */
export interface TurnOutput {
  /** The text of the agent, joined. */
  readonly text: string
  /** In the order in which each part began. */
  readonly parts: readonly TurnPart[]
  /** Number of further parts; absent for none. */
  readonly omittedParts?: number
  /** Events that can no longer be read and are missing in text and parts; absent for none. */
  readonly gaps?: readonly EventGap[]
}

/** Bounds of the output, in characters and counts; the rest is only in the log. */
export const TURN_BOUNDS = {
  /** The joined text. */
  textChars: 8 * 1024 * 1024,
  parts: 1_000,
  /** One text or thought. */
  partChars: 256 * 1024,
  /** A tool call's content, its input and its output, each. */
  toolFieldChars: 32 * 1024,
  /** All parts of a turn together. */
  allPartsChars: 4 * 1024 * 1024,
  /** Gaps that are listed one by one; further ones are merged with the last. */
  gaps: 100,
} as const

/** Merges the events of one turn as they arrive. */
export class TurnParts {
  readonly #text = new TextBuffer(TURN_BOUNDS.textChars)
  /** Each returns its part as it is so far. */
  readonly #parts: (() => TurnPart)[] = []
  readonly #tools = new Map<string, ToolBuilder>()
  readonly #gaps: EventGap[] = []
  #last: OpenText | undefined
  #plan: { entries: readonly PlanEntry[] } | undefined
  #omitted = 0
  /** Number of characters that are kept, without the joined text. */
  chars = 0

  /** Adds an event of the turn; events without output change nothing. */
  add(event: SessionEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#text.add(event.text)
        return this.#addText('text', event.text, event.messageId)
      case 'thought':
        return this.#addText('thought', event.text, event.messageId)
      case 'tool-call':
      case 'tool-result':
        return this.#addToolCall(event)
      case 'plan':
        return this.#setPlan(event.entries)
      default:
    }
  }

  /** Records lost events: the next event does not continue the last one. */
  skip(gap: EventGap): void {
    this.#last = undefined
    addGap(this.#gaps, gap)
  }

  /** The output so far. */
  output(): TurnOutput {
    return {
      text: this.#text.read().text,
      parts: this.#parts.map((part) => part()),
      ...(this.#omitted > 0 && { omittedParts: this.#omitted }),
      ...(this.#gaps.length > 0 && { gaps: [...this.#gaps] }),
    }
  }

  #addText(type: TextPart['type'], text: string, messageId: string | undefined): void {
    let last = this.#last
    if (last === undefined || last.type !== type || last.messageId !== messageId) {
      const buffer = new TextBuffer(
        Math.max(0, Math.min(TURN_BOUNDS.partChars, TURN_BOUNDS.allPartsChars - this.chars)),
      )
      last = { type, messageId, buffer }
      this.#addPart(() => ({ type, ...buffer.read() }))
      this.#last = last
    }
    this.chars += last.buffer.add(text)
  }

  #addToolCall(event: ToolCall | ToolResult): void {
    this.#last = undefined
    let tool = this.#tools.get(event.toolCallId)
    if (tool === undefined) {
      // Calls beyond the bound are only counted: not even their ids are kept, since there may be millions.
      if (this.#parts.length >= TURN_BOUNDS.parts) return void this.#omitted++
      tool = new ToolBuilder(event.toolCallId)
      this.#tools.set(event.toolCallId, tool)
      this.#addPart(tool.part)
    }
    this.chars += tool.merge(event, TURN_BOUNDS.allPartsChars - this.chars)
  }

  #setPlan(entries: readonly PlanEntry[]): void {
    this.#last = undefined
    if (this.#plan !== undefined) return void (this.#plan.entries = entries)
    const plan = { entries }
    this.#plan = plan
    this.#addPart(() => ({ type: 'plan', entries: plan.entries }))
  }

  #addPart(part: () => TurnPart): void {
    if (this.#parts.length < TURN_BOUNDS.parts) this.#parts.push(part)
    else this.#omitted++
  }
}

/** Adds a gap to the bounded list of a turn. */
export function addGap(gaps: EventGap[], gap: EventGap): void {
  const last = gaps.length < TURN_BOUNDS.gaps ? undefined : gaps.pop()
  gaps.push(last === undefined ? gap : { after: last.after, first: gap.first })
}

/** The part that the next piece of text may continue. */
interface OpenText {
  readonly type: TextPart['type']
  readonly messageId: string | undefined
  readonly buffer: TextBuffer
}

/**
 * Text that arrives in small pieces. Concatenated strings keep a node for each piece until they are read; joining them now
 * and then keeps only the characters.
 */
class TextBuffer {
  #blocks: string[] = []
  #pieces: string[] = []
  #pieceChars = 0
  #originalChars = 0
  #room: number

  /** @param room text beyond it is dropped */
  constructor(room: number) {
    this.#room = room
  }

  /** @returns the number of characters that were kept */
  add(text: string): number {
    this.#originalChars += text.length
    if (this.#room === 0) return 0
    const kept = text.length <= this.#room ? text : text.slice(0, this.#room)
    this.#room -= kept.length
    this.#pieceChars += kept.length
    this.#pieces.push(kept)
    if (this.#pieceChars > BLOCK_CHARS) {
      this.#blocks.push(this.#pieces.join(''))
      this.#pieces = []
      this.#pieceChars = 0
    }
    return kept.length
  }

  read(): Omit<TextPart, 'type'> {
    const text = this.#blocks.join('') + this.#pieces.join('')
    return this.#originalChars > text.length ? { text, cut: { originalChars: this.#originalChars } } : { text }
  }
}

const BLOCK_CHARS = 4_096

const BULKY = ['content', 'input', 'output'] as const
const PLAIN = ['toolName', 'title', 'kind', 'status', 'locations'] as const
type Fields = { -readonly [K in keyof Omit<ToolPart, 'type' | 'cut'>]: ToolPart[K] }

class ToolBuilder {
  readonly #fields: Fields
  readonly #chars = new Map<string, number>()
  /** Original size of the fields that did not fit. */
  readonly #cut = new Map<string, number>()

  constructor(toolCallId: string) {
    this.#fields = { toolCallId, status: 'pending' }
  }

  /** Absent members are unchanged. @returns the change of the number of kept characters */
  merge(event: ToolCall | ToolResult, room: number): number {
    for (const name of PLAIN) if (event[name] !== undefined) Object.assign(this.#fields, { [name]: event[name] })
    let grown = 0
    for (const name of BULKY) if (event[name] !== undefined) grown += this.#mergeBulky(name, event[name], room - grown)
    return grown
  }

  readonly part = (): ToolPart => {
    const originalChars = [...this.#cut.values()].reduce((sum, chars) => sum + chars, 0)
    return { type: 'tool', ...this.#fields, ...(originalChars === 0 ? {} : { cut: { originalChars } }) }
  }

  /** A field that is too long is omitted: half of a structure would be invalid. */
  #mergeBulky(name: (typeof BULKY)[number], value: unknown, room: number): number {
    const chars = charsOf(value)
    const before = this.#chars.get(name) ?? 0
    const fits = chars <= TURN_BOUNDS.toolFieldChars && chars - before <= room
    if (fits) Object.assign(this.#fields, { [name]: value })
    else delete this.#fields[name]
    if (fits) this.#cut.delete(name)
    else this.#cut.set(name, chars)
    this.#chars.set(name, fits ? chars : 0)
    return (fits ? chars : 0) - before
  }
}

/** The approximate length of its JSON, without serialising: an agent may repeat a long output with each update. */
function charsOf(root: unknown): number {
  const rest: unknown[] = [root]
  let chars = 0
  while (rest.length > 0) {
    const value = rest.pop()
    if (typeof value === 'string') chars += value.length + 2
    else if (typeof value !== 'object' || value === null) chars += 5
    else if (Array.isArray(value)) for (const member of value) rest.push(member)
    else for (const [key, member] of Object.entries(value)) rest.push(key, member)
  }
  return chars
}
