import type { ToolCall } from '@agentproto/contracts'

/** The tool calls of a turn, as far as loops are concerned. */
export interface CallHistory {
  /** Calls without a result, by their id, with what was said of them so far. */
  readonly open: ReadonlyMap<string, Call>
  /** The last call, and how often it was made without any other. */
  readonly last?: { readonly digest: string; readonly count: number }
  /** The other one of the two calls that were made last. */
  readonly other?: string
  /** How many calls of these two were made without a third one. */
  readonly pairCount: number
}

/** What is known of a call. */
export type Call = Pick<ToolCall, 'toolName' | 'title' | 'kind' | 'input' | 'output' | 'content'>

export const NO_CALLS: CallHistory = { open: new Map(), pairCount: 0 }
