import type { ToolCall, ToolResult } from '@agentproto/contracts'

export const TOOL_STATUSES = ['pending', 'in_progress', 'completed', 'failed'] as const
export type ToolStatus = (typeof TOOL_STATUSES)[number]

/** What an agent reports of a tool call; what it does not report is absent. */
export interface ToolUpdate extends Omit<ToolCall, 'type' | 'status'> {
  readonly status?: ToolStatus
}

const RANK: Readonly<Record<ToolStatus, number>> = { pending: 0, in_progress: 1, completed: 2, failed: 2 }
const ENDED = 2

/** Ended calls of one turn that are kept, so that a late update cannot reopen them. */
const MAX_ENDED = 10_000

/**
 * The tool calls of one turn. Agents send updates before the call that they update, repeat calls, and forget to end them.
 * The result is a list of upserts whose status never goes back; each call ends exactly once.
 */
export class ToolCalls {
  readonly #open = new Map<string, ToolUpdate>()
  readonly #ended = new Set<string>()

  upsert(update: ToolUpdate): readonly (ToolCall | ToolResult)[] {
    const { toolCallId, status } = update
    if (this.#ended.has(toolCallId)) return []
    const before = this.#open.get(toolCallId)
    if (status !== undefined && RANK[status] === ENDED) return this.#end(update, before)
    const rank = before?.status === undefined ? 0 : RANK[before.status]
    const { status: _, ...rest } = update
    const kept = status !== undefined && RANK[status] >= rank ? { ...rest, status } : rest
    this.#open.set(toolCallId, remembered(before, kept))
    return [{ type: 'tool-call', ...(kept as Omit<ToolCall, 'type'>) }]
  }

  /** All that is known of an open call, for its permission request. */
  known(update: ToolUpdate): ToolCall {
    const { status, ...call } = { ...this.#open.get(update.toolCallId), ...update }
    return { type: 'tool-call', ...call, ...(status === 'pending' || status === 'in_progress' ? { status } : {}) }
  }

  /** What a permission request adds to its call; undefined when it adds nothing. */
  news(update: ToolUpdate): ToolUpdate | undefined {
    const { toolCallId, status: _, ...said } = update
    const before = this.#open.get(toolCallId)
    if (!before) return { ...said, toolCallId, status: 'pending' }
    const fresh = Object.entries(said).filter(([key, value]) => !same(value, before[key as keyof ToolUpdate]))
    return fresh.length === 0 ? undefined : { ...Object.fromEntries(fresh), toolCallId }
  }

  /** Ends what the agent left open. */
  interrupt(): readonly ToolResult[] {
    const ids = [...this.#open.keys()]
    this.#open.clear()
    return ids.map((toolCallId) => ({ type: 'tool-result', toolCallId, status: 'interrupted' }))
  }

  #end(update: ToolUpdate, before: ToolUpdate | undefined): readonly (ToolCall | ToolResult)[] {
    this.#open.delete(update.toolCallId)
    if (this.#ended.size >= MAX_ENDED) this.#ended.clear()
    this.#ended.add(update.toolCallId)
    const result = { type: 'tool-result' as const, ...update, status: update.status as 'completed' | 'failed' }
    if (before) return [result]
    // Some agents report only the end of a call.
    const { status: _, content: __, output: ___, ...call } = update
    return [{ type: 'tool-call', ...call }, result]
  }
}

/** Content is left out: it can be large, and a permission request brings its own. */
function remembered(before: ToolUpdate | undefined, update: ToolUpdate): ToolUpdate {
  const { content: _, output: __, ...rest } = update
  return { ...before, ...rest }
}

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)
