/** A call's W3C Trace Context. The gateway creates no spans: it passes it to the agent; nothing depends on it. */
export interface TraceContext {
  /** `00-<trace id>-<parent id>-<flags>`, in lower-case hex. */
  readonly traceparent: string
  /** Vendor data; at most 512 characters. */
  readonly tracestate?: string
}

/** What holds a trace context under these names: headers, environment variables, `_meta` of ACP and MCP. */
export type TraceCarrier = { readonly [Name in keyof TraceContext]?: unknown }

const MAX_TRACESTATE_CHARS = 512
/** Longer members are removed first (§3.3.1.5). */
const LONG_MEMBER_CHARS = 128
const MAX_MEMBERS = 32
/** The maximum that is read: 32 members of the maximum length. */
const MAX_READ_CHARS = MAX_MEMBERS * 514

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const KEY = /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/**
 * The trace context of a carrier; undefined if there is none, or if it is invalid: that is never an error (W3C Trace Context
 * §4.3). An invalid `tracestate` is dropped without the `traceparent`.
 */
export function traceOf({ traceparent: given, tracestate: state }: TraceCarrier): TraceContext | undefined {
  const traceparent = typeof given === 'string' ? parentOf(given) : undefined
  if (traceparent === undefined) return undefined
  const tracestate = typeof state === 'string' ? stateOf(state) : undefined
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

/** The id of the trace. */
export const traceIdOf = ({ traceparent }: Pick<TraceContext, 'traceparent'>): string => traceparent.slice(3, 35)

function parentOf(given: string): string | undefined {
  if (given.length > MAX_TRACESTATE_CHARS) return undefined
  const [, version, trace, parent, flags, rest] = TRACEPARENT.exec(given) ?? []
  if (version === undefined) return undefined
  if (version === '00') return rest === undefined ? given : undefined
  // Of a later version only these fields are known, so it is passed on as version 00 (§3.2.3).
  return `00-${trace}-${parent}-${Number.parseInt(flags ?? '', 16) & 1 ? '01' : '00'}`
}

function stateOf(given: string): string | undefined {
  if (given.length > MAX_READ_CHARS) return undefined
  const members = given
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
  const keys = new Set<string>()
  for (const member of members) {
    const at = member.indexOf('=')
    const key = member.slice(0, Math.max(at, 0))
    if (!KEY.test(key) || !VALUE.test(member.slice(at + 1)) || keys.has(key)) return undefined
    keys.add(key)
  }
  return members.length === 0 || members.length > MAX_MEMBERS ? undefined : bounded(members)
}

/** Removes whole members until it is short enough: long ones first, then from the end. */
function bounded(members: readonly string[]): string | undefined {
  const all = members.join(',')
  if (all.length <= MAX_TRACESTATE_CHARS) return all
  const kept = members.filter(({ length }) => length <= LONG_MEMBER_CHARS)
  while (kept.join(',').length > MAX_TRACESTATE_CHARS) kept.pop()
  return kept.length === 0 ? undefined : kept.join(',')
}
