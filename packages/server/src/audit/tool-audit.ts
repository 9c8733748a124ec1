import type {
  AgentAnswer,
  AgentPrompt,
  AgentPromptResolved,
  SessionEvent,
  ToolCall,
  ToolResult,
} from '@agentproto/contracts'
import type { AuditWriter } from './audit-log.js'

/** What is known about a tool call that has not ended. */
interface OpenCall {
  title?: string | undefined
  tool?: string | undefined
  toolKind?: string | undefined
  arguments?: string | undefined
  approval?: Approval | undefined
}

/** Who or which rule decided, and how. */
interface Approval {
  readonly by: AgentPromptResolved['by']
  readonly answer: string
}

interface OpenRequest {
  readonly call: string | undefined
  /** The kind of each option, by its id. */
  readonly options: ReadonlyMap<string, string>
}

/** Bound of open calls and of open requests; beyond it the oldest are dropped, and their lines have fewer fields. */
const MAX_OPEN = 2_000
const MAX_TITLE_CHARS = 200
const MAX_ARGUMENT_CHARS = 512
const MAX_ARGUMENTS_CHARS = 2_048
const SECRET_KEY = /passw|secret|token|authorization|api[-_]?key|cookie|credential|private[-_]?key/i
const MARK = '[redacted]'

/** Records each ended tool call, and each answer to a request. Stored events are already redacted: texts may be cut. */
export class ToolAudit {
  readonly #log: AuditWriter
  readonly #calls = new Map<string, OpenCall>()
  readonly #requests = new Map<string, OpenRequest>()

  constructor(log: AuditWriter) {
    this.#log = log
  }

  /** Called with each stored batch. */
  readonly record = (events: readonly SessionEvent[]): void => {
    for (const event of events) {
      switch (event.type) {
        case 'tool-call':
          this.#update(`${event.sessionId} ${event.toolCallId}`, event)
          break
        case 'tool-result':
          this.#ended(event)
          break
        case 'agent-prompt':
          this.#requested(event)
          break
        case 'agent-prompt-resolved':
          this.#resolved(event)
          break
        case 'session-stopped':
          this.#forget(`${event.sessionId} `)
          break
        default:
      }
    }
  }

  #update(key: string, event: ToolCall | ToolResult): OpenCall {
    const call = this.#calls.get(key) ?? {}
    const { title, toolName, kind, input } = event
    if (title !== undefined) call.title = title.slice(0, MAX_TITLE_CHARS)
    if (toolName !== undefined) call.tool = toolName.slice(0, MAX_TITLE_CHARS)
    if (kind !== undefined) call.toolKind = kind
    if (input !== undefined) call.arguments = argumentsOf(input)
    keep(this.#calls, key, call)
    return call
  }

  #ended(event: SessionEvent & ToolResult): void {
    const { sessionId: session, turn, toolCallId, status } = event
    const key = `${session} ${toolCallId}`
    const call = this.#update(key, event)
    this.#calls.delete(key)
    this.#log.write({ kind: 'tool', session, turn, call: toolCallId.slice(0, MAX_TITLE_CHARS), status, ...call })
  }

  #requested({ sessionId, requestId, request }: SessionEvent & AgentPrompt): void {
    if (request.kind === 'permission') this.#update(`${sessionId} ${request.toolCall.toolCallId}`, request.toolCall)
    const call = request.kind === 'permission' ? request.toolCall.toolCallId : request.toolCallId
    const options = request.kind === 'permission' ? request.options : []
    const kinds = new Map(options.slice(0, 50).map(({ optionId, kind }) => [optionId, kind]))
    keep(this.#requests, `${sessionId} ${requestId}`, { call, options: kinds })
  }

  #resolved({ sessionId: session, turn, requestId, answer, by }: SessionEvent & AgentPromptResolved): void {
    const request = this.#requests.get(`${session} ${requestId}`)
    this.#requests.delete(`${session} ${requestId}`)
    const approval = { by, answer: answerText(answer, request) }
    const call = request?.call
    const open = call === undefined ? undefined : this.#calls.get(`${session} ${call}`)
    const { approval: _, ...about } = open ?? {}
    if (open !== undefined) open.approval = approval
    this.#log.write({
      kind: 'request',
      session,
      turn,
      request: requestId,
      call: call?.slice(0, MAX_TITLE_CHARS),
      ...approval,
      ...about,
    })
  }

  #forget(prefix: string): void {
    for (const known of [this.#calls, this.#requests])
      for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key)
  }
}

/** The kind of the selected option, if known; its id is chosen by the agent. */
function answerText(answer: AgentAnswer, request: OpenRequest | undefined): string {
  if (answer.outcome !== 'selected') return answer.outcome
  return request?.options.get(answer.optionId) ?? answer.optionId.slice(0, MAX_TITLE_CHARS)
}

/** The input as JSON, cut. A text whose key says that it is a secret is redacted, although its value is not a known secret. */
function argumentsOf(input: unknown): string {
  const json = JSON.stringify(input, (key, value: unknown) => {
    if (typeof value !== 'string') return value
    if (SECRET_KEY.test(key)) return MARK
    return value.length > MAX_ARGUMENT_CHARS ? `${value.slice(0, MAX_ARGUMENT_CHARS)}…` : value
  })
  return json.length > MAX_ARGUMENTS_CHARS ? `${json.slice(0, MAX_ARGUMENTS_CHARS)}…` : json
}

function keep<T>(known: Map<string, T>, key: string, value: T): void {
  known.set(key, value)
  const [oldest] = known.keys()
  if (known.size > MAX_OPEN && oldest !== undefined) known.delete(oldest)
}
