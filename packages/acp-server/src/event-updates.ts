import { defined, type SessionEvent, type ToolCall, type ToolContent, type ToolResult } from '@agentproto/contracts'
// Our content blocks are those of ACP, except for members that may be undefined, which JSON leaves out.
import type {
  ContentBlock as AcpContent,
  SessionUpdate,
  ToolCall as AcpToolCall,
  ToolCallContent,
} from '@agentclientprotocol/sdk'
import { ACP_BOUNDS } from '@agentproto/contracts/wire'

/** What a piece of text is in ACP. */
export const TEXT_UPDATES = { 'text-delta': 'agent_message_chunk', thought: 'agent_thought_chunk' } as const

type TurnEventType = 'user-prompt' | 'text-delta' | 'thought' | 'tool-call' | 'tool-result' | 'turn-end'

/** The events of one session as the updates of ACP. */
export class EventUpdates {
  readonly #calls = new Set<string>()
  readonly #notices: boolean

  /** @param notices whether the client supports updates of the kind `notice` */
  constructor(notices: boolean) {
    this.#notices = notices
  }

  /** The updates of an event; none for events that ACP has no update for. */
  of(event: SessionEvent): SessionUpdate[] {
    switch (event.type) {
      case 'user-prompt':
        // A prompt that the agent did not get is not part of the conversation.
        if (event.sent === false) return []
        return event.content.map((block) => ({ sessionUpdate: 'user_message_chunk', content: block as AcpContent }))
      case 'text-delta':
      case 'thought': {
        const { text, messageId } = event
        return [{ sessionUpdate: TEXT_UPDATES[event.type], content: { type: 'text', text }, ...defined({ messageId }) }]
      }
      case 'tool-call':
      case 'tool-result':
        return [this.#called(event)]
      case 'turn-end':
        this.turnEnded()
        return []
      default:
        return this.#outsideOfTurn(event)
    }
  }

  /** The calls of the turn are over: the next turn has its own. */
  turnEnded(): void {
    this.#calls.clear()
  }

  /** A message of the host to the user. */
  notice(severity: 'info' | 'warning' | 'error', title: string): SessionUpdate[] {
    if (this.#notices) return [{ sessionUpdate: 'notice', severity, title }]
    if (severity === 'info') return []
    // Without notices, a thought is the closest: shown to the user, and not text of the agent.
    return [{ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: `[${severity}] ${title}\n` } }]
  }

  #outsideOfTurn(event: Exclude<SessionEvent, { type: TurnEventType }>): SessionUpdate[] {
    switch (event.type) {
      case 'plan':
        return [{ sessionUpdate: 'plan', entries: event.entries.map((entry) => ({ priority: 'medium', ...entry })) }]
      case 'usage': {
        const { used, size, cost } = event
        if (used === undefined || size === undefined) return []
        return [{ sessionUpdate: 'usage_update', used, size, ...defined({ cost }) }]
      }
      case 'title':
        return [{ sessionUpdate: 'session_info_update', title: event.title, updatedAt: event.ts }]
      case 'notice':
        return this.notice(event.severity, event.text)
      case 'runtime-warning':
        return this.notice('warning', event.message)
      // ServedSession handles requests, errors, configuration and the end; ACP has no update for the others.
      case 'agent-prompt':
      case 'agent-prompt-resolved':
      case 'error':
      case 'config':
      case 'session-stopped':
      case 'status':
      case 'output':
      case 'extension':
      case 'runtime-progress':
      case 'checkpoint':
      case 'checkpoint-skipped':
      case 'rewound':
      case 'repair':
        return []
    }
  }

  #called(event: ToolCall | ToolResult): SessionUpdate {
    const known = this.#calls.has(event.toolCallId)
    if (this.#calls.size >= ACP_BOUNDS.turnCalls) this.#calls.clear()
    this.#calls.add(event.toolCallId)
    const update = toolUpdate(event)
    if (known) return { sessionUpdate: 'tool_call_update', ...update }
    const { title, status, ...rest } = update
    const shown = { title: title ?? event.toolName ?? event.toolCallId, status: status ?? 'pending' } as const
    return { ...rest, sessionUpdate: 'tool_call', ...shown }
  }
}

/** A tool call as an upsert of ACP. */
export function toolUpdate(call: ToolCall | ToolResult): Partial<AcpToolCall> & Pick<AcpToolCall, 'toolCallId'> {
  const { toolCallId, toolName: name, title, kind, status, locations, content, input, output } = call
  return {
    toolCallId,
    ...defined({ name, title, kind, status: status === 'interrupted' ? ('failed' as const) : status }),
    ...defined({ locations: locations?.map((location) => ({ ...location })), content: content?.flatMap(contentOf) }),
    ...defined({ rawInput: input, rawOutput: output }),
  }
}

/** Terminals belong to the host: the client does not have them. */
function contentOf(item: ToolContent): ToolCallContent[] {
  switch (item.type) {
    case 'terminal':
      return []
    case 'diff':
      return [{ type: 'diff', path: item.path, oldText: item.oldText ?? null, newText: item.newText }]
    case 'content':
      return [{ type: 'content', content: item.content as AcpContent }]
  }
}
