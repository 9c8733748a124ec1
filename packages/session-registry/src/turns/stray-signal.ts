import type { AgentSignal } from '@agentproto/contracts'
import type { LogEntry } from '../log/event-record.js'

/** What an agent says of a turn when none is open is kept, but not as a part of a turn. */
export function outsideTurn(signal: AgentSignal): LogEntry {
  return STREAM.has(signal.type) ? { type: 'extension', kind: `stray-${signal.type}`, payload: signal } : signal
}

const STREAM: ReadonlySet<string> = new Set(['text-delta', 'thought', 'tool-call', 'tool-result', 'turn-end'])
