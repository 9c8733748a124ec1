import { isRecord, type Json, type SessionEvent, type SessionEventType } from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { eventOf, number } from '../log/event-record.js'

/**
 * What an agent emitted, in the form in which two of them can be compared: as the log has it, without its envelope. Data that
 * are redacted or cut in the log are so here too.
 */
export type LoggedSignal = Json & { readonly type: SessionEventType }

/** Stderr comes through a pipe of its own, so that its place among the rest is another one each time. */
export const LANES = ['main', 'stderr'] as const
export type Lane = (typeof LANES)[number]

export const laneOf = (signal: AgentSignal | LoggedSignal): Lane =>
  signal.type === 'output' && signal.stream === 'stderr' ? 'stderr' : 'main'

/** Whether an event of that type may be in the lane. */
export const mayBeIn = (lane: Lane, type: SessionEventType): boolean => lane === 'main' || type === 'output'

/** A signal as the log would have it. */
export const loggedForm = (signal: AgentSignal, redact?: (text: string) => string): LoggedSignal =>
  withoutEnvelope(eventOf(number(signal, NO_STAMP, redact).record))

/** What is compared has no envelope. */
export const NO_STAMP = { seq: 1, ts: '', sessionId: '', turn: undefined }

/**
 * The signal in an event of the log; undefined for what the host logged by itself.
 * @param turn the one whose output is emitted again: any other was ended by the host
 */
export function signalIn(event: SessionEvent, turn: number | undefined): LoggedSignal | undefined {
  if (!isOfAgent(event.type) || 'permissionMode' in event) return undefined
  if (event.type === 'turn-end' && event.turn !== turn) return undefined
  const signal = withoutEnvelope(event)
  return event.type === 'extension' ? (strayIn(event.kind, event.payload) ?? signal) : signal
}

/** Whether agents emit events of that type. */
export const isOfAgent = (type: SessionEventType): boolean => IS_OF_AGENT[type]

const IS_OF_AGENT: Readonly<Record<SessionEventType, boolean>> = {
  'text-delta': true,
  thought: true,
  'tool-call': true,
  'tool-result': true,
  'turn-end': true,
  error: true,
  plan: true,
  usage: true,
  config: true,
  title: true,
  output: true,
  notice: true,
  extension: true,
  'agent-prompt': false,
  'agent-prompt-resolved': false,
  'user-prompt': false,
  status: false,
  'runtime-progress': false,
  'runtime-warning': false,
  checkpoint: false,
  'checkpoint-skipped': false,
  rewound: false,
  repair: false,
  'session-stopped': false,
}

function withoutEnvelope({ seq: _s, ts: _t, sessionId: _i, turn: _n, ...signal }: SessionEvent): LoggedSignal {
  return signal
}

/** What came when no turn was open is logged as an extension that has it. */
function strayIn(kind: string, payload: unknown): LoggedSignal | undefined {
  if (!kind.startsWith(STRAY) || !isRecord(payload)) return undefined
  const type = STRAY_TYPES.find((each) => each === payload['type'])
  return type === undefined ? undefined : { ...payload, type }
}

const STRAY = 'stray-'
const STRAY_TYPES = ['text-delta', 'thought', 'tool-call', 'tool-result', 'turn-end'] as const
