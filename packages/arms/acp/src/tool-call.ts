import type { ContentBlock, ToolCall, ToolContent, ToolKind, ToolLocation, ToolResult } from '@agentproto/contracts'
import { defined, isRecord, number, record, text } from './json.js'
import type { Json } from './json.js'

type Status = 'pending' | 'in_progress' | 'completed' | 'failed'

/** What an update says about a tool call; what it does not say is absent. */
export interface ToolUpdate {
  readonly toolCallId: string
  readonly status?: Status
  readonly toolName?: string
  readonly title?: string
  readonly kind?: ToolKind
  readonly locations?: readonly ToolLocation[]
  readonly content?: readonly ToolContent[]
  readonly input?: unknown
  readonly output?: unknown
}

const KINDS: ReadonlySet<string> = new Set<ToolKind>([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
])
const STATUSES: ReadonlySet<string> = new Set<Status>(['pending', 'in_progress', 'completed', 'failed'])
const RANK: Readonly<Record<Status, number>> = { pending: 0, in_progress: 1, completed: 2, failed: 2 }
const ENDED = 2

/** Ended calls of one turn that are remembered, so that a late update cannot reopen them. */
const MAX_ENDED = 10_000

/** Reads `tool_call`, `tool_call_update` and a permission's `toolCall`; undefined without an id. */
export function parseToolUpdate(update: Json): ToolUpdate | undefined {
  const toolCallId = text(update['toolCallId'])
  if (toolCallId === undefined) return undefined
  return {
    toolCallId,
    ...defined({
      status: statusOf(update['status']),
      toolName: text(update['name']),
      title: text(update['title']),
      kind: kindOf(update['kind']),
      locations: locationsOf(update['locations']),
      content: Array.isArray(update['content']) ? update['content'].map(contentOf) : undefined,
    }),
    ...given('input', update['rawInput']),
    ...given('output', update['rawOutput']),
  }
}

/**
 * The tool calls of one turn. Agents send updates before the call they update, repeat calls, and forget
 * to end them; out of here come upserts whose status never goes back, each ended exactly once.
 */
export class ToolCalls {
  readonly #open = new Map<string, ToolUpdate>()
  readonly #ended = new Set<string>()

  /** What an update means for the turn. */
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

  /** An open call as far as it is known, for the permission that it waits for. */
  known(update: ToolUpdate): ToolCall {
    const { status, ...call } = { ...this.#open.get(update.toolCallId), ...update }
    return { type: 'tool-call', ...call, ...(status === 'pending' || status === 'in_progress' ? { status } : {}) }
  }

  /** What a permission says of its call that was not said before; undefined when that is nothing. */
  news(update: ToolUpdate): ToolUpdate | undefined {
    const { toolCallId, status, ...said } = update
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
    // Some agents say of a call only that it ended.
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

const statusOf = (value: unknown): Status | undefined =>
  typeof value === 'string' && STATUSES.has(value) ? (value as Status) : undefined

function kindOf(value: unknown): ToolKind | undefined {
  if (typeof value !== 'string') return undefined
  return KINDS.has(value) ? (value as ToolKind) : 'other'
}

function locationsOf(value: unknown): readonly ToolLocation[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.flatMap((entry) => {
    const { path, line } = record(entry)
    return typeof path === 'string' ? [{ path, ...defined({ line: number(line) }) }] : []
  })
}

/** What is of no known shape is shown as its JSON: never dropped. */
function contentOf(item: unknown): ToolContent {
  const { type, content, path, oldText, newText, terminalId } = record(item)
  if (type === 'content' && isContentBlock(content)) return { type, content }
  if (type === 'terminal' && typeof terminalId === 'string') return { type, terminalId }
  if (type === 'diff' && typeof path === 'string' && typeof newText === 'string') {
    return { type, path, newText, ...(typeof oldText === 'string' ? { oldText } : {}) }
  }
  return { type: 'content', content: { type: 'text', text: JSON.stringify(item) ?? '' } }
}

/** Whether a value is one of ACP's content blocks. */
export function isContentBlock(value: unknown): value is ContentBlock {
  const block = record(value)
  const has = (...names: readonly string[]): boolean => names.every((name) => typeof block[name] === 'string')
  switch (block['type']) {
    case 'text':
      return has('text')
    case 'image':
    case 'audio':
      return has('data', 'mimeType')
    case 'resource_link':
      return has('uri', 'name')
    case 'resource':
      return isRecord(block['resource']) && typeof block['resource']['uri'] === 'string'
    default:
      return false
  }
}

const given = <K extends string>(key: K, value: unknown): { [P in K]?: unknown } =>
  (value === undefined || value === null ? {} : { [key]: value }) as { [P in K]?: unknown }
