import { asList, asNumber, asRecord, asString, isRecord, type Json, parseJson } from '../json.js'
import { KEPT_STREAMS, type KeptStream, type StreamOffsets } from './kept-agent.js'
import type { KeptFacts } from './kept-facts.js'

const VERSION = 1
/** How deep facts are taken apart, so that what sessions have in common is stored once: agents list hundreds of models. */
const DEPTH = 2

/** Lines since the start of the agent. Lines of its output count when they were handled. */
export type StreamLines = Readonly<Record<KeptStream, number>>

/** A place in the streams of a process, between two lines. */
export interface StreamPlace {
  readonly offsets: StreamOffsets
  readonly lines: StreamLines
}

/** What is stored of one session of a process that several share, at the idle point of that session. */
export interface SharedSession extends KeptFacts {
  /** The id that its host gave it. */
  readonly key: string
  /** Everything of the session before it was handled. */
  readonly at: StreamPlace
}

/** What is stored with a kept process that several sessions share, and what a later host goes on from. It has no secrets. */
export interface SharedFacts {
  /** What the host knows of the launch. */
  readonly host: Json
  /** What the arm knows of the process. */
  readonly arm: Json
  /** Where what is kept begins. */
  readonly from: StreamLines
  /** Without those that cannot be adopted. */
  readonly sessions: readonly SharedSession[]
}

/** The text that a keeper stores. */
export function sharedFactsText({ host, arm, from, sessions }: SharedFacts): string {
  const parts = new Parts()
  const packed = sessions.map((each) => ({
    key: each.key,
    mark: each.mark,
    at: each.at,
    host: parts.pack(each.host, DEPTH),
    arm: parts.pack(each.arm, DEPTH),
  }))
  return JSON.stringify({ version: VERSION, shared: { host, arm, from, sessions: packed, parts: parts.all } })
}

/** Reads the text of facts; undefined where it is none of a shared process. */
export function readSharedFacts(text: string): SharedFacts | undefined {
  const { version, shared } = asRecord(parseJson(text))
  if (version !== VERSION || !isRecord(shared)) return undefined
  const { host, arm, sessions, parts } = shared
  const from = numbersIn(shared['from'])
  if (!isRecord(arm) || !from) return undefined
  return {
    host: asRecord(host),
    arm,
    from,
    sessions: asList(sessions).flatMap((each) => sessionIn(asRecord(each), asList(parts))),
  }
}

function sessionIn({ key, mark, at, host, arm }: Json, parts: readonly unknown[]): SharedSession[] {
  const [id, stored, known] = [asString(key), asNumber(mark), unpacked(arm, parts)]
  const [offsets, lines] = [numbersIn(asRecord(at)['offsets']), numbersIn(asRecord(at)['lines'])]
  const isWhole = id !== undefined && stored !== undefined && stored >= 0 && isRecord(known)
  if (!isWhole || !offsets || !lines) return []
  return [{ key: id, mark: stored, at: { offsets, lines }, host: asRecord(unpacked(host, parts)), arm: known }]
}

/** A number for each stream. */
function numbersIn(value: unknown): Readonly<Record<KeptStream, number>> | undefined {
  const numbers = asRecord(value)
  const [stdin = -1, stdout = -1, stderr = -1] = KEPT_STREAMS.map((stream) => asNumber(numbers[stream]))
  return Math.min(stdin, stdout, stderr) < 0 ? undefined : { stdin, stdout, stderr }
}

/** Values that several sessions may have, each once. */
class Parts {
  readonly all: unknown[] = []
  readonly #places = new Map<string, number>()

  /** A number for a value, or a record of them. */
  pack(value: unknown, depth: number): unknown {
    if (depth === 0 || !isRecord(value)) return this.#placeOf(value)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.pack(each, depth - 1)]))
  }

  #placeOf(value: unknown): number | undefined {
    if (value === undefined) return undefined
    const text = JSON.stringify(value)
    const known = this.#places.get(text)
    if (known !== undefined) return known
    this.#places.set(text, this.all.length)
    return this.all.push(value) - 1
  }
}

function unpacked(packed: unknown, parts: readonly unknown[]): unknown {
  if (typeof packed === 'number') return parts[packed]
  return Object.fromEntries(Object.entries(asRecord(packed)).map(([name, each]) => [name, unpacked(each, parts)]))
}
