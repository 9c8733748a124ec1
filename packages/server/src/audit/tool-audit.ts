import type {
  AgentAnswer,
  AgentPrompt,
  AgentPromptResolved,
  SessionEvent,
  ToolCall,
  ToolResult,
} from '@agentproto/contracts'
import type { AuditWriter } from './audit-log.js'

/** What is known of a tool call that has not ended. */
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

interface Asked {
  readonly call: string | undefined
  /** The kind of each option, by its id. */
  readonly options: ReadonlyMap<string, string>
}

/** Open calls, and open requests, that are known at once; of more the oldest are forgotten, and their lines say less. */
const MAX_OPEN = 2_000
const MAX_TITLE_CHARS = 200
const MAX_ARGUMENT_CHARS = 512
const MAX_ARGUMENTS_CHARS = 2_048
const SECRET_KEY = /passw|secret|token|authorization|api[-_]?key|cookie|credential|private[-_]?key/i
const MARK = '[redacted]'

/**
 * Writes each tool call of an agent when it has ended, and each answer to what an agent asked. The events that it is given
 * were stored: known secrets are out of them, so that their texts may be cut.
 */
export class ToolAudit {
  readonly #log: AuditWriter
  readonly #calls = new Map<string, OpenCall>()
  readonly #asked = new Map<string, Asked>()

  constructor(log: AuditWriter) {
    this.#log = log
  }

  /** Takes a stored batch. What agents say in between costs one comparison. */
  record(events: readonly SessionEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'tool-call':
          this.#learn(`${event.sessionId} ${event.toolCallId}`, event)
          break
        case 'tool-result':
          this.#ended(event)
          break
        case 'agent-prompt':
          this.#ask(event)
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

  #learn(key: string, said: ToolCall | ToolResult): OpenCall {
    const call = this.#calls.get(key) ?? {}
    const { title, toolName, kind, input } = said
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
    const call = this.#learn(key, event)
    this.#calls.delete(key)
    this.#log.write({ kind: 'tool', session, turn, call: toolCallId.slice(0, MAX_TITLE_CHARS), status, ...call })
  }

  #ask({ sessionId, requestId, request }: SessionEvent & AgentPrompt): void {
    if (request.kind === 'permission') this.#learn(`${sessionId} ${request.toolCall.toolCallId}`, request.toolCall)
    const call = request.kind === 'permission' ? request.toolCall.toolCallId : request.toolCallId
    const options = request.kind === 'permission' ? request.options : []
    const kinds = new Map(options.slice(0, 50).map(({ optionId, kind }) => [optionId, kind]))
    keep(this.#asked, `${sessionId} ${requestId}`, { call, options: kinds })
  }

  #resolved({ sessionId: session, turn, requestId, answer, by }: SessionEvent & AgentPromptResolved): void {
    const asked = this.#asked.get(`${session} ${requestId}`)
    this.#asked.delete(`${session} ${requestId}`)
    const approval = { by, answer: wordOf(answer, asked) }
    const call = asked?.call
    const open = call === undefined ? undefined : this.#calls.get(`${session} ${call}`)
    const { approval: _, ...about } = open ?? {}
    if (open !== undefined) open.approval = approval
    this.#log.write({
      kind: 'request',
      session,
      turn,
      request: requestId,
      call: call?.slice(0, 200),
      ...approval,
      ...about,
    })
  }

  #forget(prefix: string): void {
    for (const known of [this.#calls, this.#asked])
      for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key)
  }
}

/** What an option means, where it is known: its id is the agent's own word. */
function wordOf(answer: AgentAnswer, asked: Asked | undefined): string {
  if (answer.outcome !== 'selected') return answer.outcome
  return asked?.options.get(answer.optionId) ?? answer.optionId.slice(0, MAX_TITLE_CHARS)
}

/** The input as JSON, cut; what a key calls a secret is left out although nobody knows its value. */
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
