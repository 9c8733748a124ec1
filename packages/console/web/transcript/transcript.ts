import type { SessionEvent } from '@agentproto/client'
import { fenceAfter } from './fence.js'
import { noteOf } from './note.js'
import type {
  EventOf,
  Part,
  PartContent,
  PartFrame,
  RequestPart,
  TextPart,
  ToolPart,
  ToolStep,
  TurnEndPart,
} from './part.js'
import { growthPieces, splitOf } from './text-split.js'

type Growth = EventOf<'text-delta'> | EventOf<'thought'>
type Resolved = EventOf<'agent-prompt-resolved'>
type Entries = EventOf<'plan'>['entries']
type ToolParts = Map<string, PartFrame & ToolPart>
/** The end of a turn whose beginning is not known, and its time. */
interface LooseEnd {
  readonly part: PartFrame & TurnEndPart
  readonly ts: string
}

let lastKey = 0

/** The transcript of a session, or of its later events, event by event. What is before it can be put in front. */
export class TranscriptModel {
  /** Grows at its end; another array when something was put in front. */
  parts: Part[] = []
  /** What was prompted, oldest first. */
  prompts: string[] = []
  lastSeq = 0
  #plan: Entries | undefined
  /** The calls of the newest turn, and of the oldest one: their first steps may be before all that is known. */
  #tools: ToolParts = new Map()
  #oldestTools = this.#tools
  readonly #requests = new Map<string, PartFrame & RequestPart>()
  /** Answers to requests that are not known. */
  readonly #looseAnswers = new Map<string, Resolved>()
  #turnStartedAt: number | undefined
  #looseEnd: LooseEnd | undefined

  /** The last plan of the agent. */
  get plan(): Entries {
    return this.#plan ?? []
  }

  apply(event: SessionEvent): void {
    this.lastSeq = event.seq
    switch (event.type) {
      case 'user-prompt':
        this.#turnStartedAt = Date.parse(event.ts)
        this.#addPrompt(event)
        return
      case 'text-delta':
      case 'thought':
        for (const text of growthPieces(event.text)) this.#grow({ ...event, text })
        return
      case 'tool-call':
      case 'tool-result':
        this.#applyTool(event)
        return
      case 'agent-prompt':
        this.#addRequest(event)
        return
      case 'agent-prompt-resolved':
        this.#applyAnswer(event)
        return
      case 'plan':
        this.#plan = event.entries
        return
      case 'turn-end':
        this.#endTurn(event)
        return
      case 'error':
      case 'notice':
      case 'runtime-warning':
      case 'repair':
      case 'checkpoint-skipped':
      case 'rewound':
      case 'session-stopped':
        this.#add(event, { type: 'note', ...noteOf(event) })
        return
      case 'output':
      case 'status':
      case 'usage':
      case 'config':
      case 'title':
      case 'extension':
      case 'runtime-progress':
      case 'checkpoint':
        // The header and the events view show them.
        return
    }
  }

  /** Puts the transcript of the events before these in front, which must not be used any more. */
  prepend(earlier: TranscriptModel): void {
    const moved = this.#takeTools(earlier)
    this.#takeRequests(earlier)
    this.#takeTurn(earlier)
    this.#passFence(earlier.parts.at(-1))
    const before = moved.size === 0 ? earlier.parts : earlier.parts.filter((part) => !moved.has(part))
    this.parts = [...before, ...this.parts]
    this.prompts = [...earlier.prompts, ...this.prompts]
    this.#plan ??= earlier.#plan
  }

  #addPrompt(event: EventOf<'user-prompt'>): void {
    const text = textOf(event.content)
    this.prompts.push(text)
    this.#add(event, { type: 'prompt', text, isUnsent: event.sent === false })
  }

  #add<C extends PartContent>({ seq, turn }: SessionEvent, content: C): PartFrame & C {
    this.#close()
    const part = Object.assign({ key: ++lastKey, seq, turn, revision: 0 }, content)
    this.parts.push(part)
    return part
  }

  #addRequest(event: EventOf<'agent-prompt'>): void {
    const { requestId, request } = event
    const content: RequestPart = { type: 'request', requestId, request }
    this.#requests.set(requestId, this.#add(event, content))
  }

  #grow(event: Growth): void {
    const type = event.type === 'thought' ? 'thought' : 'text'
    const last = this.parts.at(-1)
    if (last?.type !== type) {
      this.#add(event, { type, text: event.text, fence: undefined, isWhole: false })
    } else if (last.isWhole) {
      this.#add(event, { type, text: event.text, fence: fenceAfter(last.text, last.fence), isWhole: false })
    } else {
      last.text += event.text
      last.revision++
      this.#split(last, event)
    }
  }

  /** Closes what is long enough, and lets a new part grow from the rest. */
  #split(part: TextPart, event: Growth): void {
    const split = splitOf(part.text, part.fence)
    if (split === undefined) return
    part.text = split.closed
    part.isWhole = true
    if (split.rest === '') return
    const fence = fenceAfter(part.text, part.fence)
    this.#add(event, { type: part.type, text: split.rest, fence, isWhole: false })
  }

  #close(): void {
    const last = this.parts.at(-1)
    if (last !== undefined && isText(last)) last.isWhole = true
  }

  #applyTool(event: ToolStep): void {
    const { type: _type, ...step } = event
    const known = this.#tools.get(event.toolCallId)
    if (known === undefined) {
      const content: ToolPart = { type: 'tool', call: step }
      this.#tools.set(event.toolCallId, this.#add(event, content))
      return
    }
    known.call = { ...known.call, ...step }
    known.revision++
  }

  #applyAnswer(event: Resolved): void {
    const part = this.#requests.get(event.requestId)
    if (part === undefined) {
      this.#looseAnswers.set(event.requestId, event)
      return
    }
    part.resolved = event
    part.revision++
  }

  #endTurn(event: EventOf<'turn-end'>): void {
    const { reason, ts } = event
    const seconds = secondsFrom(this.#turnStartedAt, ts)
    const part = this.#add<TurnEndPart>(event, { type: 'turn-end', reason, seconds })
    if (seconds === undefined) this.#looseEnd = { part, ts }
    this.#tools = new Map()
  }

  /**
   * A call of which a later step is shown already stays there: nothing moves below a reader.
   * @returns the parts that must not be shown a second time
   */
  #takeTools(earlier: TranscriptModel): ReadonlySet<Part> {
    const moved = new Set<Part>()
    for (const [id, first] of earlier.#tools) {
      const later = this.#oldestTools.get(id)
      if (later === undefined) {
        this.#oldestTools.set(id, first)
        continue
      }
      later.call = { ...first.call, ...later.call }
      later.revision++
      moved.add(first)
    }
    // Otherwise the earlier events are of the same turn.
    if (earlier.#oldestTools !== earlier.#tools) this.#oldestTools = earlier.#oldestTools
    return moved
  }

  #takeRequests(earlier: TranscriptModel): void {
    for (const [id, part] of earlier.#requests) {
      this.#requests.set(id, part)
      const answer = this.#looseAnswers.get(id)
      if (answer === undefined) continue
      this.#looseAnswers.delete(id)
      this.#applyAnswer(answer)
    }
    for (const [id, answer] of earlier.#looseAnswers) this.#looseAnswers.set(id, answer)
  }

  #takeTurn(earlier: TranscriptModel): void {
    const end = this.#looseEnd
    if (end !== undefined) {
      end.part.seconds = secondsFrom(earlier.#turnStartedAt, end.ts)
      end.part.revision++
    }
    this.#looseEnd = end?.part.seconds === undefined ? (end ?? earlier.#looseEnd) : earlier.#looseEnd
    this.#turnStartedAt ??= earlier.#turnStartedAt
  }

  /** A block of code that is open at the end of what comes in front goes on in the first parts of the same text. */
  #passFence(last: Part | undefined): void {
    if (last === undefined || !isText(last)) return
    let fence = fenceAfter(last.text, last.fence)
    for (const part of this.parts) {
      if (part.type !== last.type || !isText(part) || part.fence === fence) return
      part.fence = fence
      part.revision++
      fence = fenceAfter(part.text, fence)
    }
  }
}

const isText = (part: Part): part is PartFrame & TextPart => part.type === 'text' || part.type === 'thought'

function secondsFrom(startedAt: number | undefined, ts: string): number | undefined {
  return startedAt === undefined ? undefined : Math.max(0, Math.round((Date.parse(ts) - startedAt) / 1_000))
}

const textOf = (content: EventOf<'user-prompt'>['content']): string =>
  content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
