import type { SessionEvent } from '@agentproto/client'

type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { readonly type: T }>
type ToolStep = EventOf<'tool-call'> | EventOf<'tool-result'>
type Request = EventOf<'agent-prompt'>['request']
type Growth = EventOf<'text-delta'> | EventOf<'thought'>
type Resolved = EventOf<'agent-prompt-resolved'>

interface PartFrame {
  readonly key: string
  readonly turn: number | undefined
  /** Grows with each change, so that a view draws again only what has changed. */
  revision: number
}

/** One part of a transcript. */
export type Part = PartFrame & PartContent

export type PartContent =
  | { readonly type: 'prompt'; readonly text: string; readonly isUnsent: boolean }
  | TextPart
  | ToolPart
  | RequestPart
  | ({ readonly type: 'note' } & Note)
  | { readonly type: 'turn-end'; readonly reason: EventOf<'turn-end'>['reason']; readonly seconds?: number }

interface Note {
  readonly tone: 'info' | 'warning' | 'error'
  readonly text: string
  readonly detail?: string | undefined
}

interface TextPart {
  readonly type: 'text' | 'thought'
  text: string
  /** Nothing is added any more. */
  isWhole: boolean
}

interface ToolPart {
  readonly type: 'tool'
  call: Tool
}

interface RequestPart {
  readonly type: 'request'
  readonly requestId: string
  readonly request: Request
  resolved?: Resolved
}

/** All steps of a tool call in one: absent members are those of the steps before. */
export type Tool = Omit<ToolStep, 'type' | 'status'> & { readonly status?: ToolStep['status'] }

/** A growing text is closed at the end of a paragraph beyond this size: what is closed is never rendered again. */
const PARAGRAPH_CHARS = 1_500
/** And here at any place: a text without paragraphs must not be rendered again for each word. */
const LONGEST_CHARS = 6_000

/** The transcript of a session, event by event. */
export class TranscriptModel {
  readonly parts: Part[] = []
  /** What was prompted, oldest first. */
  readonly prompts: string[] = []
  /** The last plan of the agent. */
  plan: EventOf<'plan'>['entries'] = []
  lastSeq = 0
  readonly #tools = new Map<string, PartFrame & ToolPart>()
  readonly #requests = new Map<string, PartFrame & RequestPart>()
  #turnStartedAt: number | undefined

  apply(event: SessionEvent): void {
    this.lastSeq = event.seq
    switch (event.type) {
      case 'user-prompt':
        this.#turnStartedAt = Date.parse(event.ts)
        this.prompts.push(textOf(event.content))
        this.#add(event, { type: 'prompt', text: textOf(event.content), isUnsent: event.sent === false })
        return
      case 'text-delta':
      case 'thought':
        for (const text of pieces(event.text)) this.#grow({ ...event, text })
        return
      case 'tool-call':
      case 'tool-result':
        this.#applyTool(event)
        return
      case 'agent-prompt':
        this.#request(event)
        return
      case 'agent-prompt-resolved':
        this.#applyAnswer(event)
        return
      case 'plan':
        this.plan = event.entries
        return
      case 'turn-end':
        this.#add(event, { type: 'turn-end', reason: event.reason, ...this.#seconds(event) })
        this.#tools.clear()
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

  #add<C extends PartContent>({ turn }: SessionEvent, content: C): PartFrame & C {
    this.#close()
    const part = Object.assign({ key: `${this.parts.length}`, turn, revision: 0 }, content)
    this.parts.push(part)
    return part
  }

  #request(event: EventOf<'agent-prompt'>): void {
    const { requestId, request } = event
    const content: RequestPart = { type: 'request', requestId, request }
    this.#requests.set(requestId, this.#add(event, content))
  }

  #grow(event: Growth): void {
    const type = event.type === 'thought' ? 'thought' : 'text'
    const last = this.parts.at(-1)
    if (last?.type !== type || last.isWhole) {
      this.#add(event, { type, text: event.text, isWhole: false })
      return
    }
    last.text += event.text
    last.revision++
    this.#split(last, event)
  }

  /** Closes what is long enough at its last paragraph, and lets a new part grow from the rest. */
  #split(part: TextPart, event: Growth): void {
    if (part.text.length < PARAGRAPH_CHARS) return
    const at = part.text.lastIndexOf('\n\n')
    const isParagraph = at > 0 && !isInCode(part.text.slice(0, at))
    if (!isParagraph && part.text.length < LONGEST_CHARS) return
    const rest = isParagraph ? part.text.slice(at + 2) : ''
    if (isParagraph) part.text = part.text.slice(0, at)
    part.isWhole = true
    if (rest !== '') this.#add(event, { type: part.type, text: rest, isWhole: false })
  }

  #close(): void {
    const last = this.parts.at(-1)
    if (last !== undefined && (last.type === 'text' || last.type === 'thought')) last.isWhole = true
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
    if (part === undefined) return
    part.resolved = event
    part.revision++
  }

  #seconds({ ts }: SessionEvent): { readonly seconds?: number } {
    const started = this.#turnStartedAt
    return started === undefined ? {} : { seconds: Math.max(0, Math.round((Date.parse(ts) - started) / 1_000)) }
  }
}

type NoteEvent = EventOf<
  'error' | 'notice' | 'runtime-warning' | 'repair' | 'checkpoint-skipped' | 'rewound' | 'session-stopped'
>

function noteOf(event: NoteEvent): Note {
  switch (event.type) {
    case 'error':
      return { tone: 'error', text: event.message, detail: event.stderrTail }
    case 'notice':
      return { tone: event.severity, text: event.text }
    case 'runtime-warning':
      return { tone: 'warning', text: event.message }
    case 'repair':
      return { tone: 'warning', text: event.detail }
    case 'checkpoint-skipped':
      return { tone: 'warning', text: `Files were not recorded: ${event.reason}`, detail: event.detail }
    case 'rewound':
      return { tone: 'info', text: `${event.files} files were set back` }
    case 'session-stopped':
      return {
        tone: event.failure ? 'error' : 'info',
        text: `Ended: ${event.stopReason}`,
        detail: event.failure?.summary,
      }
  }
}

/** One event may bring a megabyte: it grows by pieces, as if it came in several events. No pair of surrogates is separated. */
function pieces(text: string): readonly string[] {
  return text.length <= LONGEST_CHARS ? [text] : (text.match(PIECE) ?? [])
}

const PIECE = new RegExp(`[^]{1,${LONGEST_CHARS / 2}}`, 'gu')

/** Whether a text ends inside a fenced block of code. */
const isInCode = (text: string): boolean => (text.match(/^\s*(```|~~~)/gm)?.length ?? 0) % 2 === 1

const textOf = (content: EventOf<'user-prompt'>['content']): string =>
  content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
