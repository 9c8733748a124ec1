import {
  type AgentPrompt,
  type EventGap,
  type OutputItem,
  promptText,
  type RequestFacts,
  type RequestPath,
  type SessionEvent,
  type ToolCall,
  type ToolResult,
} from '@agentproto/contracts'

/**
 * AIP-46's output projection: events in, lines out. The result depends on the events and their time stamps
 * alone, so that a replay of the log gives the same lines under the same cursors. It may be restarted
 * at the first event of any turn.
 */

/** Text that got no newline becomes a line after this much silence, in milliseconds. */
const SILENCE_MS = 250
/** ... or at this length, in characters. */
const MAX_LINE = 64 * 1024
const MAX_KNOWN_TOOLS = 4_096

interface Partial {
  readonly prefix: string
  text: string
  /** Last event that added to the text. */
  seq: number
  at: number
}

export class Projection {
  #partial: Partial | undefined
  #tools = new Map<string, string>()
  #seq = 0
  #n = 0
  #out: OutputItem[] = []
  #clock = { ts: '', ms: 0 }

  /** Lines that the events completed. */
  project(events: Iterable<SessionEvent>): OutputItem[] {
    for (const event of events) this.#take(event)
    return this.#drain()
  }

  /** Events are gone: what waits is a line of its own, and the notice stands for all before the first event that there is. */
  skip(gap: EventGap): OutputItem[] {
    this.#flush()
    this.#seq = gap.first - 1
    this.#out.push({ cursor: String(this.#seq), type: 'gap', gap })
    return this.#drain()
  }

  /** Milliseconds since the epoch at which {@link flushSilent} is due; undefined when nothing waits. */
  get flushAt(): number | undefined {
    return this.#partial === undefined ? undefined : this.#partial.at + SILENCE_MS
  }

  /** Completes the text that waits, when it has waited long enough at `now`. */
  flushSilent(now: number): OutputItem[] {
    if (this.#partial !== undefined && now - this.#partial.at >= SILENCE_MS) this.#flush()
    return this.#drain()
  }

  #take(event: SessionEvent): void {
    if (event.type === 'text-delta') return this.#addText('', event.text, event)
    if (event.type === 'thought') return this.#addText('[thought] ', event.text, event)
    this.#flush()
    this.#at(event.seq)
    this.#line(event)
  }

  #addText(prefix: string, text: string, event: SessionEvent): void {
    const at = this.#time(event.ts)
    if (this.#partial !== undefined && (this.#partial.prefix !== prefix || at - this.#partial.at >= SILENCE_MS))
      this.#flush()
    this.#at(event.seq)
    this.#partial ??= { prefix, text: '', seq: event.seq, at }
    // Only the new text is searched: looking at all that waits would cost the square of a long line.
    let from = 0
    for (let eol = text.indexOf('\n'); eol >= 0; eol = text.indexOf('\n', from)) {
      this.#push(prefix + this.#partial.text + text.slice(from, eol))
      this.#partial.text = ''
      from = eol + 1
    }
    this.#partial.text += from === 0 ? text : text.slice(from)
    this.#partial.seq = event.seq
    this.#partial.at = at
    if (this.#partial.text === '') this.#partial = undefined
    else if (this.#partial.text.length > MAX_LINE) this.#flush()
  }

  /** Events of one batch share their time stamp, and parsing one costs as much as the rest of a delta. */
  #time(ts: string): number {
    if (ts !== this.#clock.ts) this.#clock = { ts, ms: Date.parse(ts) }
    return this.#clock.ms
  }

  #flush(): void {
    const waiting = this.#partial
    if (waiting === undefined) return
    this.#partial = undefined
    this.#at(waiting.seq)
    this.#push(waiting.prefix + waiting.text)
  }

  #line(event: SessionEvent): void {
    switch (event.type) {
      case 'user-prompt':
        this.#tools.clear()
        return this.#text(`[user] `, promptText(event.content))
      case 'tool-call':
        return this.#toolCall(event)
      case 'tool-result':
        return this.#toolResult(event)
      case 'agent-prompt':
        return this.#request(event)
      case 'turn-end':
        return this.#push(`── turn-end (${event.reason}) ──`)
      case 'error':
        this.#text('[error] ', event.message)
        return event.stderrTail === undefined ? undefined : this.#text('', event.stderrTail, 'stderr')
      case 'plan':
        return event.entries.forEach((entry) => this.#push(`[plan] ${PLAN_MARK[entry.status]} ${entry.content}`))
      case 'output':
        return this.#text('', event.text, event.stream)
      case 'notice':
        return this.#text('[notice] ', event.text)
      case 'runtime-warning':
        return this.#text('[warning] ', event.message)
      case 'status':
        this.#out.push({ cursor: this.#cursor(), type: 'status', status: event })
        return undefined
      default:
        // Events without a line: config, usage, title, progress, repairs, the end (its status has one).
        return undefined
    }
  }

  /** What is asked, and of a permission all that the gateway found out: a title may hide a command. */
  #request({ request, facts }: AgentPrompt): void {
    this.#push(`[awaiting input] ${request.kind === 'permission' ? nameOf(request.toolCall) : request.message}`)
    for (const [label, text] of facts === undefined ? [] : factRows(facts))
      this.#text(`[awaiting input] ${label}: `, text)
  }

  /** One line for a tool call, at its first event; later upserts add nothing that a person must read. */
  #toolCall(call: ToolCall): void {
    if (this.#tools.has(call.toolCallId)) return
    if (this.#tools.size >= MAX_KNOWN_TOOLS) this.#tools.clear()
    const name = nameOf(call)
    this.#tools.set(call.toolCallId, name)
    this.#push(`[tool] ${name}`)
  }

  #toolResult(result: ToolResult): void {
    if (result.status === 'completed') return
    const name = this.#tools.get(result.toolCallId) ?? nameOf(result)
    this.#push(`[tool-error] ${name}${result.status === 'interrupted' ? ' (interrupted)' : ''}`)
  }

  #text(prefix: string, text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    for (const line of text.replace(/\n$/, '').split('\n')) this.#push(prefix + line, stream)
  }

  #push(line: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    this.#out.push({ cursor: this.#cursor(), type: 'line', line: { line, stream } })
  }

  #at(seq: number): void {
    if (seq === this.#seq) return
    this.#seq = seq
    this.#n = 0
  }

  #cursor(): string {
    this.#n += 1
    return `${this.#seq}.${this.#n}`
  }

  #drain(): OutputItem[] {
    if (this.#out.length === 0) return this.#out
    const out = this.#out
    this.#out = []
    return out
  }
}

const PLAN_MARK = { pending: '[ ]', in_progress: '[~]', completed: '[x]' } as const

const nameOf = ({ toolName, title, kind, toolCallId }: ToolCall | ToolResult): string =>
  toolName ?? title ?? kind ?? toolCallId

const factRows = ({
  commands,
  environment = [],
  paths,
  urls,
}: RequestFacts): readonly (readonly [string, string])[] => [
  ...commands.map((command) => ['command', command] as const),
  ...environment.map(({ name, value }) => ['variable', `${name}=${value}`] as const),
  ...paths.map((path) => ['path', pathText(path)] as const),
  ...urls.map((url) => ['address', url] as const),
]

const pathText = ({ named, real, inside }: RequestPath): string =>
  `${real.join(' or ') || `${named}, unknown where it leads`}${inside ? '' : ' (outside)'}`
