import type { PlanEntry } from './notice.js'
import type { EventGap, SessionEvent } from './event-log.js'
import type { ToolCall, ToolResult } from './tool-call.js'
import { TextBuffer } from './text-buffer.js'

/** What a turn put out, as a whole: its events merged, so that nobody has to add them up. */

/** Present where something was cut; the log has all of it. */
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

/** The plan as it was at last. */
export interface PlanPart {
  readonly type: 'plan'
  readonly entries: readonly PlanEntry[]
}

export type TurnPart = TextPart | ToolPart | PlanPart

/** The output of one turn. */
export interface TurnOutput {
  /** The agent's text of the turn, joined. */
  readonly text: string
  /** In the order in which each began. */
  readonly parts: readonly TurnPart[]
  /** How many further parts there were; absent for none. */
  readonly omittedParts?: number
  /** Events of the turn that cannot be read any more: what they said is in neither text nor parts. Absent for none. */
  readonly gaps?: readonly EventGap[]
}

/** Bounds of a turn's output, in characters and counts; what is beyond is only in the log. */
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
  /** Gaps that are told one by one; those beyond are told as one with the last. */
  gaps: 100,
} as const

/** Merges the events of one turn as they come. */
export class TurnParts {
  readonly #text = new TextBuffer(TURN_BOUNDS.textChars)
  readonly #parts: Growing[] = []
  readonly #tools = new Map<string, GrowingTool>()
  readonly #gaps: EventGap[] = []
  #last: GrowingText | undefined
  #plan: { entries: readonly PlanEntry[] } | undefined
  #omitted = 0
  #room: number = TURN_BOUNDS.allPartsChars

  /** Takes an event of the turn; those that put nothing out change nothing. */
  take(event: SessionEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#text.add(event.text)
        return this.#say('text', event.text, event.messageId)
      case 'thought':
        return this.#say('thought', event.text, event.messageId)
      case 'tool-call':
      case 'tool-result':
        return this.#call(event)
      case 'plan':
        return this.#planned(event.entries)
      default:
    }
  }

  /** Events of the turn are gone: what comes now does not follow what came before. */
  skip(gap: EventGap): void {
    this.#last = undefined
    addGap(this.#gaps, gap)
  }

  /** How many characters are kept, the joined text aside. */
  get chars(): number {
    return TURN_BOUNDS.allPartsChars - this.#room
  }

  /** Everything so far. */
  output(): TurnOutput {
    return {
      text: this.#text.toString(),
      parts: this.#parts.map((part) => part.part()),
      ...(this.#omitted === 0 ? {} : { omittedParts: this.#omitted }),
      ...(this.#gaps.length === 0 ? {} : { gaps: [...this.#gaps] }),
    }
  }

  #say(type: TextPart['type'], text: string, messageId: string | undefined): void {
    let last = this.#last
    if (last === undefined || last.type !== type || last.messageId !== messageId) {
      last = new GrowingText(type, messageId, Math.min(TURN_BOUNDS.partChars, this.#room))
      this.#add(last)
      this.#last = last
    }
    this.#room -= last.add(text)
  }

  #call(event: ToolCall | ToolResult): void {
    this.#last = undefined
    let tool = this.#tools.get(event.toolCallId)
    if (tool === undefined) {
      // Beyond the bound calls are counted and forgotten: a flood of them must not be remembered by its ids.
      if (this.#parts.length >= TURN_BOUNDS.parts) return void this.#omitted++
      tool = new GrowingTool(event.toolCallId)
      this.#tools.set(event.toolCallId, tool)
      this.#add(tool)
    }
    this.#room -= tool.merge(event, this.#room)
  }

  #planned(entries: readonly PlanEntry[]): void {
    this.#last = undefined
    if (this.#plan !== undefined) return void (this.#plan.entries = entries)
    const plan = { entries }
    this.#plan = plan
    this.#add({ part: () => ({ type: 'plan', entries: plan.entries }) })
  }

  #add(part: Growing): void {
    if (this.#parts.length < TURN_BOUNDS.parts) this.#parts.push(part)
    else this.#omitted++
  }
}

/** Adds to the gaps of one turn, which are bounded. */
export function addGap(gaps: EventGap[], gap: EventGap): void {
  const last = gaps.length < TURN_BOUNDS.gaps ? undefined : gaps.pop()
  gaps.push(last === undefined ? gap : { after: last.after, first: gap.first })
}

interface Growing {
  part(): TurnPart
}

class GrowingText implements Growing {
  readonly type: TextPart['type']
  readonly messageId: string | undefined
  readonly #buffer: TextBuffer
  #room: number
  #chars = 0

  constructor(type: TextPart['type'], messageId: string | undefined, room: number) {
    this.type = type
    this.messageId = messageId
    this.#room = Math.max(0, room)
    this.#buffer = new TextBuffer(this.#room)
  }

  /** @returns how many characters were kept */
  add(text: string): number {
    this.#chars += text.length
    if (this.#room === 0) return 0
    const kept = text.length <= this.#room ? text : text.slice(0, this.#room)
    this.#buffer.add(kept)
    this.#room -= kept.length
    return kept.length
  }

  part(): TextPart {
    const text = this.#buffer.toString()
    return { type: this.type, text, ...(this.#chars > text.length ? { cut: { originalChars: this.#chars } } : {}) }
  }
}

const BULKY = ['content', 'input', 'output'] as const
const PLAIN = ['toolName', 'title', 'kind', 'status', 'locations'] as const
type Fields = { -readonly [K in keyof Omit<ToolPart, 'type' | 'cut'>]: ToolPart[K] }

class GrowingTool implements Growing {
  readonly #fields: Fields
  readonly #chars = new Map<string, number>()
  /** Characters of the fields that did not fit, by field. */
  readonly #cut = new Map<string, number>()

  constructor(toolCallId: string) {
    this.#fields = { toolCallId, status: 'pending' }
  }

  /** What is absent is unchanged. @returns how many more characters are kept */
  merge(event: ToolCall | ToolResult, room: number): number {
    for (const name of PLAIN) if (event[name] !== undefined) Object.assign(this.#fields, { [name]: event[name] })
    let grown = 0
    for (const name of BULKY) if (event[name] !== undefined) grown += this.#bulky(name, event[name], room - grown)
    return grown
  }

  part(): ToolPart {
    const originalChars = [...this.#cut.values()].reduce((sum, chars) => sum + chars, 0)
    return { type: 'tool', ...this.#fields, ...(originalChars === 0 ? {} : { cut: { originalChars } }) }
  }

  /** A field that is too long is left out as a whole: half of a structure would be none. */
  #bulky(name: (typeof BULKY)[number], value: unknown, room: number): number {
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

/** About as long as its JSON, without writing that: an agent may repeat a long output with each update. */
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
