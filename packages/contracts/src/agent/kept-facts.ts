import { asNumber, asRecord, isRecord, type Json, parseJson } from '../json.js'

/** The longest text of facts that a keeper stores, in bytes. */
export const MAX_FACTS_BYTES = 256 << 10
const VERSION = 1

/** What is stored with a kept agent at an idle point, and what a later host goes on from. It has no secrets. */
export interface KeptFacts {
  /** What {@link AgentSink.mark} gave at the idle point. */
  readonly mark: number
  /** What the host knows of the launch. */
  readonly host: Json
  /** What the arm knows of its connection and session. */
  readonly arm: Json
}

/** The text that a keeper stores. */
export const keptFactsText = (facts: KeptFacts): string => JSON.stringify({ version: VERSION, ...facts })

/** Reads the text of facts; undefined where it is none, such as that of an agent whose start was not completed. */
export function readKeptFacts(text: string): KeptFacts | undefined {
  const { version, mark, host, arm } = asRecord(parseJson(text))
  const stored = asNumber(mark)
  if (version !== VERSION || stored === undefined || stored < 0 || !isRecord(arm)) return undefined
  return { mark: stored, host: asRecord(host), arm }
}
