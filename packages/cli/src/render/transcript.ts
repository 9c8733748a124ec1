import {
  type AgentAnswer,
  type AgentPromptResolved,
  type AgentRequest,
  type PlanEntry,
  promptText,
  type SessionEvent,
  type ToolCall,
  type ToolResult,
  type TurnEnd,
} from '@agentproto/contracts'
import { duration } from './age.js'
import { columnsOf } from './fit.js'
import type { Paint } from './paint.js'
import { oneLine, printable } from './printable.js'
import { requestTitle, toolSubject, toolTitle } from './request-title.js'
import { toolContentRows } from './tool-content.js'
import { wrap } from './wrap.js'

export interface TranscriptOptions {
  readonly paint: Paint
  /** Columns of the terminal, which may be resized. */
  readonly width: () => number
  /** Show a request only when it is answered, because a dialog shows it until then. */
  readonly requestsWhenAnswered?: boolean
}

type Style = (text: string) => string

/** Text after the last returned row, to which more may be added. */
interface Growing {
  readonly type: 'text-delta' | 'thought'
  line: string
}

const MAX_KNOWN = 4_096

/**
 * The transcript of a session, event by event. `apply` returns the rows that are final. The unfinished row is
 * `partial`, and `apply` returns it when it is complete. Every row fits the width.
 */
export class Transcript {
  readonly #options: TranscriptOptions
  #growing: Growing | undefined
  #tools = new Map<string, ToolCall>()
  #lastTool: string | undefined
  #plan: readonly string[] = []
  #turnStartedAt: number | undefined
  #requests = new Map<string, AgentRequest>()
  #endsBlank = true

  constructor(options: TranscriptOptions) {
    this.#options = options
  }

  apply(event: SessionEvent): string[] {
    const rows = event.type === 'text-delta' || event.type === 'thought' ? this.#grow(event) : this.#whole(event)
    if (rows.length > 0) this.#endsBlank = rows.at(-1) === ''
    return rows
  }

  get partial(): string {
    return this.#growing === undefined ? '' : this.#styleOf(this.#growing.type)(this.#growing.line)
  }

  #grow({ type, text }: Pick<Growing, 'type'> & { readonly text: string }): string[] {
    const before = this.#growing?.type === type ? [] : this.finishPartial()
    const style = this.#styleOf(type)
    const lines = ((this.#growing?.line ?? '') + printable(text)).split('\n')
    const rest = wrap(lines.pop() ?? '', this.#width)
    const last = rest.pop() ?? ''
    this.#growing = { type, line: last }
    this.#lastTool = undefined
    return [...before, ...[...lines.flatMap((line) => wrap(line, this.#width)), ...rest].map(style)]
  }

  /** The unfinished row as a final one, before other rows. */
  finishPartial(): string[] {
    const rows = this.partial === '' ? [] : [this.partial]
    this.#growing = undefined
    return rows
  }

  #whole(event: SessionEvent): string[] {
    const rows = this.#rowsOf(event)
    return rows.length === 0 ? [] : [...this.finishPartial(), ...rows]
  }

  #rowsOf(event: SessionEvent): string[] {
    const { paint } = this.#options
    switch (event.type) {
      case 'user-prompt':
        this.#turnStartedAt = Date.parse(event.ts)
        this.#tools.clear()
        return this.#prompt(promptText(event.content))
      case 'tool-call':
        return this.#toolCall(event)
      case 'tool-result':
        return this.#toolResult(event)
      case 'agent-prompt':
        return this.#requested(event)
      case 'agent-prompt-resolved':
        return this.#answered(event)
      case 'plan':
        return this.#planChanges(event.entries).flatMap(({ status, content }) =>
          this.#marked(PLAN_MARKS[status], content, paint.blue),
        )
      case 'turn-end':
        return [paint.dim(this.#turnEnd(event)), '']
      case 'error':
        return [
          ...this.#marked('✗ ', event.message, paint.red),
          ...this.#marked('  ', event.stderrTail ?? '', paint.dim),
        ]
      case 'output':
        return this.#marked('│ ', event.text, paint.dim)
      case 'notice':
        return this.#marked('! ', event.text, event.severity === 'error' ? paint.red : paint.yellow)
      case 'runtime-warning':
        return this.#marked('! ', event.message, paint.yellow)
      case 'repair':
        return this.#marked('! ', event.detail, paint.dim)
      case 'session-stopped':
        return [
          ...(event.failure === undefined ? [] : this.#marked('✗ ', event.failure.summary, paint.red)),
          paint.dim(`── session ${event.status} (${event.stopReason}) ──`),
        ]
      default:
        // Shown in the status row or nowhere: config, usage, title, status, progress, extensions.
        return []
    }
  }

  #prompt(text: string): string[] {
    const { paint } = this.#options
    const rows = this.#marked('❯ ', text, (row) => paint.bold(paint.cyan(row)))
    return this.#endsBlank && this.partial === '' ? rows : ['', ...rows]
  }

  /** One row for the first event of a call. Later upserts are merged, so that the result can show them. */
  #toolCall(call: ToolCall): string[] {
    const known = this.#tools.get(call.toolCallId)
    if (this.#tools.size >= MAX_KNOWN) this.#tools.clear()
    this.#tools.set(call.toolCallId, { ...known, ...call })
    if (known !== undefined) return []
    this.#lastTool = call.toolCallId
    return this.#marked('● ', nameOf(call), this.#options.paint.cyan)
  }

  /** The result, directly below its call, or with the name of the call when other rows are in between. */
  #toolResult(result: ToolResult): string[] {
    const { paint } = this.#options
    const { status, ...rest } = result
    const call = { ...this.#tools.get(result.toolCallId), ...rest, type: 'tool-call' } as ToolCall
    const isBelowItsCall = this.#lastTool === result.toolCallId
    this.#lastTool = undefined
    const style = status === 'completed' ? paint.green : paint.red
    const mark = status === 'completed' ? '  ✓ ' : '  ✗ '
    const content = toolContentRows(call.content ?? [], { paint, width: this.#width })
    const text = isBelowItsCall ? status : `${nameOf(call)} ${status}`
    return [...this.#marked(mark, text, style), ...content]
  }

  #requested({ requestId, request }: SessionEvent & { readonly type: 'agent-prompt' }): string[] {
    this.#requests.set(requestId, request)
    return this.#options.requestsWhenAnswered === true ? [] : this.#request(request)
  }

  #answered({ requestId, answer, by }: AgentPromptResolved): string[] {
    const request = this.#requests.get(requestId)
    this.#requests.delete(requestId)
    const who = by.type === 'principal' ? by.name : by.type === 'policy' ? by.rule : by.type
    const question = request !== undefined && this.#options.requestsWhenAnswered === true ? this.#request(request) : []
    return [...question, ...this.#marked('  → ', `${answerName(answer, request)} (${who})`, this.#options.paint.dim)]
  }

  #request(request: AgentRequest): string[] {
    const subject = request.kind === 'permission' ? toolSubject(request.toolCall) : request.url
    const question = requestTitle(request) + (subject === undefined ? '' : `  ${oneLine(subject)}`)
    return this.#marked('? ', question, this.#options.paint.yellow)
  }

  /** The entries of a plan that are new or changed; all entries of a different plan. */
  #planChanges(entries: readonly PlanEntry[]): readonly PlanEntry[] {
    const before = this.#plan
    this.#plan = entries.map(({ status, content }) => `${status} ${content}`)
    const isSamePlan =
      before.length === entries.length && entries.every(({ content }, index) => before[index]?.endsWith(` ${content}`))
    return isSamePlan ? entries.filter((_, index) => before[index] !== this.#plan[index]) : entries
  }

  #turnEnd(event: TurnEnd & { readonly ts: string; readonly turn?: number }): string {
    const took = this.#turnStartedAt === undefined ? '' : ` · ${duration(Date.parse(event.ts) - this.#turnStartedAt)}`
    const tokens = event.usage?.totalTokens === undefined ? '' : ` · ${event.usage.totalTokens} tokens`
    const empty = event.empty === true ? ' · empty' : ''
    return `── turn ${event.turn ?? '?'} · ${event.reason}${empty}${took}${tokens} ──`
  }

  /** Text after a mark. Further rows are indented by the width of the mark. */
  #marked(mark: string, text: string, style: Style): string[] {
    if (text === '') return []
    const indent = ' '.repeat(columnsOf(mark))
    const rows = printable(text)
      .trimEnd()
      .split('\n')
      .flatMap((line) => wrap(line, this.#width - indent.length))
    return rows.map((row, index) => style((index === 0 ? mark : indent) + row))
  }

  #styleOf(type: Growing['type']): Style {
    return type === 'thought' ? this.#options.paint.dim : (text) => text
  }

  get #width(): number {
    return this.#options.width()
  }
}

const PLAN_MARKS = { pending: '☐ ', in_progress: '▶ ', completed: '☑ ' } as const
const ANSWERS = { accept: 'accepted', decline: 'declined', cancelled: 'cancelled' } as const

function nameOf(call: ToolCall): string {
  const subject = toolSubject(call)
  return subject === undefined ? toolTitle(call) : `${toolTitle(call)}  ${subject}`
}

function answerName(answer: AgentAnswer, request: AgentRequest | undefined): string {
  if (answer.outcome !== 'selected') return ANSWERS[answer.outcome]
  const options = request?.kind === 'permission' ? request.options : []
  return options.find(({ optionId }) => optionId === answer.optionId)?.name ?? answer.optionId
}
