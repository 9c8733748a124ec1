import {
  type AgentNotice,
  asList,
  asNumber,
  asRecord,
  defined,
  isRecord,
  type PlanEntry,
  type StreamError,
  type TurnEndReason,
} from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import type { ToolUpdate } from '@agentproto/arm-kit'
import { textAt, valueAt } from './path.js'
import type { EventSource, Meaning, ToolCallPlaces } from './profile.js'

/** What a notification of a vendor means: what a session emits, or what it must know. */
export type VendorEvent =
  | Exclude<AgentSignal, { type: 'turn-end' | 'error' }>
  | (StreamError & { readonly final: boolean })
  | { readonly type: 'session'; readonly id: string }
  | { readonly type: 'turn-end'; readonly reason: TurnEndReason; readonly said?: string }
  | { readonly type: 'nothing' }

/** Reads a notification by the manifest's mapping; undefined when the mapping does not know its kind, or what it needs is missing. */
export function vendorEvent(params: unknown, { kind, map }: EventSource): VendorEvent | undefined {
  const key = kind === undefined ? '*' : (textAt(params, kind) ?? '*')
  const meaning = (Object.hasOwn(map, key) ? map[key] : undefined) ?? map['*']
  return meaning && meant(params, meaning)
}

/** A notification that is kept as it came. */
export function keptEvent(method: string, params: unknown, source?: EventSource): AgentNotice {
  const kind = source?.kind === undefined ? undefined : textAt(params, source.kind)
  return { type: 'extension', kind: kind === undefined ? method : `${method}:${kind}`, payload: params }
}

// One case a kind of event; each is two lines.
// oxlint-disable-next-line complexity
function meant(params: unknown, meaning: Meaning): VendorEvent | undefined {
  switch (meaning.event) {
    case 'text-delta':
    case 'thought': {
      const text = textAt(params, meaning.text)
      const messageId = meaning.messageId && textAt(params, meaning.messageId)
      return text === undefined ? undefined : { type: meaning.event, text, ...defined({ messageId }) }
    }
    case 'tool-call': {
      const update = toolAt(params, meaning)
      return update && { type: 'tool-call', ...update, ...defined({ status: meaning.status }) }
    }
    case 'tool-result': {
      const update = toolAt(params, meaning)
      return update && { type: 'tool-result', ...update, status: succeeded(params, meaning) ? 'completed' : 'failed' }
    }
    case 'plan':
      return plan(params, meaning)
    case 'usage':
      return usage(params, meaning)
    case 'title': {
      const title = textAt(params, meaning.title)
      return title === undefined ? undefined : { type: 'title', title }
    }
    case 'notice': {
      const text = textAt(params, meaning.text)
      return text === undefined ? undefined : { type: 'notice', severity: meaning.severity ?? 'info', text }
    }
    case 'error': {
      const { final = false } = meaning
      const message = textAt(params, meaning.message)
      const agentCode = meaning.agentCode && textAt(params, meaning.agentCode)
      return message === undefined ? undefined : { type: 'error', message, final, ...defined({ agentCode }) }
    }
    case 'session': {
      const id = textAt(params, meaning.id)
      return id === undefined ? undefined : { type: 'session', id }
    }
    case 'turn-end': {
      const said = meaning.text && textAt(params, meaning.text)
      return { type: 'turn-end', reason: meaning.reason, ...defined({ said }) }
    }
    case 'ignore':
      return { type: 'nothing' }
  }
}

/** What stands there of a tool call; undefined without an id. */
export function toolAt(params: unknown, places: ToolCallPlaces): Omit<ToolUpdate, 'status'> | undefined {
  const toolCallId = textAt(params, places.toolCallId)
  if (toolCallId === undefined) return undefined
  const { title, toolNameAt, toolName, kind, input, output, locations } = places
  return {
    toolCallId,
    ...defined({
      title: title && textAt(params, title),
      toolName: (toolNameAt && textAt(params, toolNameAt)) ?? toolName,
      kind,
      input: input && valueAt(params, input),
      output: output && valueAt(params, output),
      locations: locations && pathsIn(valueAt(params, locations)),
    }),
  }
}

function pathsIn(value: unknown): readonly { readonly path: string }[] | undefined {
  const paths = typeof value === 'string' ? [value] : isRecord(value) ? Object.keys(value) : asList(value)
  const found = paths.flatMap((path) => (typeof path === 'string' ? [{ path }] : []))
  return found.length === 0 ? undefined : found
}

function succeeded(params: unknown, { succeeded: rule }: Extract<Meaning, { event: 'tool-result' }>): boolean {
  return rule === undefined || valueAt(params, rule.at) === rule.is
}

const STATUSES: ReadonlySet<unknown> = new Set<PlanEntry['status']>(['pending', 'in_progress', 'completed'])

function plan(
  params: unknown,
  { entries, content, status }: Extract<Meaning, { event: 'plan' }>,
): AgentNotice | undefined {
  const stated = valueAt(params, entries)
  if (!Array.isArray(stated)) return undefined
  return {
    type: 'plan',
    entries: stated.flatMap((entry: unknown): PlanEntry[] => {
      const text = textAt(asRecord(entry), content)
      const state = status && valueAt(entry, status)
      if (text === undefined) return []
      return [{ content: text, status: STATUSES.has(state) ? (state as PlanEntry['status']) : 'pending' }]
    }),
  }
}

function usage(params: unknown, { used, size }: Extract<Meaning, { event: 'usage' }>): AgentNotice | undefined {
  const stated = defined({
    used: used && asNumber(valueAt(params, used)),
    size: size && asNumber(valueAt(params, size)),
  })
  return Object.keys(stated).length === 0 ? undefined : { type: 'usage', ...stated }
}
