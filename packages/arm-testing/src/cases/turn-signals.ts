import { STREAM_EVENT_TYPES, type TurnEnd } from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { CaseFailure } from './agent-case.js'

const STREAM: ReadonlySet<string> = new Set(STREAM_EVENT_TYPES)

/** Only what belongs to a turn. */
export const eventsOf = (signals: readonly AgentSignal[]): readonly AgentSignal[] =>
  signals.filter(({ type }) => STREAM.has(type))

/** What the agent said in a turn, joined. */
export const textOf = (signals: readonly AgentSignal[]): string =>
  signals.flatMap((signal) => (signal.type === 'text-delta' ? [signal.text] : [])).join('')

/**
 * The last event of a turn, once it is sure that it is the only end.
 * @throws `CaseFailure`
 */
export function endOf(signals: readonly AgentSignal[]): TurnEnd {
  const events = eventsOf(signals)
  const ends = events.filter((event) => event.type === 'turn-end')
  const last = events.at(-1)
  if (ends.length === 1 && last?.type === 'turn-end') return last
  throw new CaseFailure(
    'one end of the turn, as its last event',
    `${ends.length} ends; the last event is ${last?.type ?? 'none'}`,
  )
}

/** What the agent or its arm said of a failure. */
export const errorIn = (signals: readonly AgentSignal[]): string | undefined =>
  signals.find((signal) => signal.type === 'error')?.message

const EXCERPT = 80

/** The beginning of a text, in one line. */
export function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT - 1)}…` : line
}
