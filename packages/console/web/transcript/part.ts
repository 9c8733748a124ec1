import type { SessionEvent } from '@agentproto/client'

export type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { readonly type: T }>
export type ToolStep = EventOf<'tool-call'> | EventOf<'tool-result'>

export interface PartFrame {
  /** Unlike that of any other part of this page. */
  readonly key: number
  /** The event with which it began. */
  readonly seq: number
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
  | TurnEndPart

export interface Note {
  readonly tone: 'info' | 'warning' | 'error'
  readonly text: string
  readonly detail?: string | undefined
}

export interface TextPart {
  readonly type: 'text' | 'thought'
  text: string
  /** The line that opened the block of code in which this part begins. */
  fence: string | undefined
  /** Nothing is added any more. */
  isWhole: boolean
}

export interface ToolPart {
  readonly type: 'tool'
  call: Tool
}

export interface RequestPart {
  readonly type: 'request'
  readonly requestId: string
  readonly request: EventOf<'agent-prompt'>['request']
  resolved?: EventOf<'agent-prompt-resolved'>
}

export interface TurnEndPart {
  readonly type: 'turn-end'
  readonly reason: EventOf<'turn-end'>['reason']
  /** Unknown while the prompt of the turn is not loaded. */
  seconds: number | undefined
}

/** All steps of a tool call in one: absent members are those of the steps before. */
export type Tool = Omit<ToolStep, 'type' | 'status'> & { readonly status?: ToolStep['status'] }
