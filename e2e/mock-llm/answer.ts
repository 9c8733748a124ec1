import type { Json, JsonObject } from './json.js'

/** What the model answers, before an API's clothes are put on it. */
export interface Answer {
  readonly kind: 'answer'
  readonly thought?: string
  /** Text, one chunk a delta. */
  readonly chunks: readonly string[]
  readonly calls: readonly ToolUse[]
  readonly stop: 'end' | 'max-tokens' | 'refusal'
  /** Milliseconds between two chunks. */
  readonly chunkDelayMs?: number
  /** After the chunks: no further byte, or a cut socket. */
  readonly breakOff?: 'hang' | 'drop'
}

/** No answer at all. */
export type Misfortune =
  | { readonly kind: 'status'; readonly status: number }
  /** Takes the request and never sends a byte. */
  | { readonly kind: 'mute' }
  /** Bytes that are not the API's. */
  | { readonly kind: 'garbage' }

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly namespace?: string
  readonly kind: string
  readonly input: JsonObject
  /** Of a tool that takes free text. */
  readonly freeText?: string
}

export const say = (...chunks: string[]): Answer => ({ kind: 'answer', chunks, calls: [], stop: 'end' })

/** One message on the wire. */
export interface Frame {
  readonly event?: string
  readonly data: Json
}

/** One answer in the clothes of one API. */
export interface AnswerWriter {
  open(): readonly Frame[]
  thought(text: string): readonly Frame[]
  text(chunk: string): readonly Frame[]
  call(call: ToolUse): readonly Frame[]
  close(): readonly Frame[]
  /** All of it at once, for a request that does not stream. */
  whole(): JsonObject
}

/** Estimates that are stable from run to run. */
export interface Tokens {
  readonly input: number
  readonly output: number
}

/** The arguments as an API that carries text wants them. */
export const inputText = ({ freeText, input }: ToolUse): string =>
  JSON.stringify(freeText === undefined ? input : { input: freeText })

/** Two halves, so that whoever joins deltas has something to join. */
export function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}

let lastId = 0
/** Unique within the process, and the same from run to run. */
export const newId = (prefix: string): string => `${prefix}${String((lastId += 1)).padStart(8, '0')}`
