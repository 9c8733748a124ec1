import { createHash } from 'node:crypto'
import type { SessionEvent, ToolCall, ToolResult } from '@agentproto/contracts'
import { end } from '../session/run.js'
import { andThen, type SessionState, step, type Step } from '../session/state.js'
import type { Call, CallHistory } from './call-history.js'

/**
 * An agent that makes the same call with the same result again and again, or two such calls in alternation, does not get on.
 * Calls are compared within one turn by a digest, so that only two of them are kept.
 */

/** Calls that are open at once; further ones are not compared. */
const MAX_OPEN = 256
/** Longer calls count as different: comparing them would cost more than it is worth. */
const MAX_CHARS = 1_000_000

/** A call was begun, or more was said of it. */
export function callSeen(state: SessionState, event: SessionEvent & ToolCall): SessionState {
  const { calls } = state
  if (!isWatched(state)) return state
  const known = calls.open.get(event.toolCallId)
  if (known === undefined && calls.open.size >= MAX_OPEN) return state
  return { ...state, calls: { ...calls, open: new Map(calls.open).set(event.toolCallId, merged(known, event)) } }
}

/** A call has its result: the session is warned of a loop, or ends. */
export function callEnded(state: SessionState, event: SessionEvent & ToolResult): Step {
  if (!isWatched(state) || state.run.phase !== 'running' || event.status === 'interrupted') return step(state)
  const open = new Map(state.calls.open)
  const call = merged(open.get(event.toolCallId), event)
  open.delete(event.toolCallId)
  const calls = { ...countCall(state.calls, digestOf(call, event.status)), open }
  return judge({ ...state, calls }, call)
}

function isWatched(state: SessionState): boolean {
  const { warnAfter, stopAfter } = limitsOf(state)
  return warnAfter > 0 || stopAfter > 0
}

/** What the start says of them comes before the configuration. */
function limitsOf({ spawn: { loops = {} }, config }: SessionState) {
  const { warnAfter = config.loopWarnAfter, stopAfter = config.loopStopAfter } = loops
  return { warnAfter, stopAfter }
}

function countCall(before: CallHistory, digest: string | undefined): Omit<CallHistory, 'open'> {
  if (digest === undefined) return { pairCount: 0 }
  const { last, other, pairCount } = before
  if (last === undefined) return { last: { digest, count: 1 }, pairCount: 1 }
  if (digest === last.digest)
    return { last: { digest, count: last.count + 1 }, pairCount: pairCount + 1, ...(other !== undefined && { other }) }
  const isOfPair = other === undefined || digest === other
  return {
    last: { digest, count: 1 },
    other: last.digest,
    // With a third call, the new pair began with the last run of the one before.
    pairCount: isOfPair ? pairCount + 1 : last.count + 1,
  }
}

function judge(state: SessionState, { toolName, title, kind }: Call): Step {
  const { last, pairCount } = state.calls
  const { warnAfter, stopAfter } = limitsOf(state)
  // Of a pair that alternates each call counts, and not the run that was reported already.
  const isReached = (limit: number): boolean =>
    last !== undefined && (last.count === limit || (pairCount === 2 * limit && last.count < limit))
  const name = (toolName ?? title ?? kind ?? 'a tool').slice(0, MAX_NAME)
  if (stopAfter > 0 && isReached(stopAfter)) {
    const message = `The agent repeated the call ${name} with the same result: the session ends after ${stopAfter} times`
    return andThen(warn(state, message), (after) => end(after, { status: 'killed', stopReason: 'loop_detected' }))
  }
  return warnAfter > 0 && isReached(warnAfter)
    ? warn(state, `The agent repeated the call ${name} with the same result ${warnAfter} times`)
    : step(state)
}

const MAX_NAME = 200

function warn(state: SessionState, message: string): Step {
  const turn = state.turn.phase === 'open' ? state.turn.number : undefined
  return step(state, { do: 'append', groups: [{ entries: [{ type: 'runtime-warning', message }], turn }], hold: true })
}

const merged = (known: Call = {}, { toolName, title, kind, input, output, content }: Call): Call => ({
  ...known,
  ...(toolName !== undefined && { toolName }),
  ...(title !== undefined && { title }),
  ...(kind !== undefined && { kind }),
  ...(input !== undefined && { input }),
  ...(output !== undefined && { output }),
  ...(content !== undefined && { content }),
})

/** Undefined for a call that is too long to be compared. */
function digestOf(
  { toolName, title, kind, input, output, content }: Call,
  status: ToolResult['status'],
): string | undefined {
  const text = JSON.stringify([toolName ?? title, kind, input, status, output, content], withoutTerminal)
  return text.length > MAX_CHARS ? undefined : createHash('sha256').update(text).digest('base64')
}

/** Each run of a command has a terminal of its own. */
const withoutTerminal = (key: string, value: unknown): unknown => (key === 'terminalId' ? undefined : value)
