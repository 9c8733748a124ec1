import type { Json, JsonObject } from './json.js'

/** An answer of the model, independent of the API. */
export interface Answer {
  readonly kind: 'answer'
  readonly thought?: string
  /** Text, one chunk per delta. */
  readonly chunks: readonly string[]
  readonly calls: readonly ToolUse[]
  readonly stop: 'end' | 'max-tokens' | 'refusal'
  /** Milliseconds between two chunks. */
  readonly chunkDelayMs?: number
  /** After the chunks: no further byte, or a closed socket. */
  readonly breakOff?: 'hang' | 'drop'
}

/** No answer at all. */
export type Misfortune =
  | { readonly kind: 'status'; readonly status: number }
  /** Accepts the request and never sends a byte. */
  | { readonly kind: 'mute' }
  /** Bytes that are not valid for the API. */
  | { readonly kind: 'garbage' }

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly namespace?: string
  readonly kind: string
  readonly input: JsonObject
  /** The input of a tool with free text. */
  readonly freeText?: string
}

export const say = (...chunks: string[]): Answer => ({ kind: 'answer', chunks, calls: [], stop: 'end' })

/** One message on the wire. */
export interface Frame {
  readonly event?: string
  readonly data: Json
}

/** An answer in the format of one API. */
export interface AnswerWriter {
  open(): readonly Frame[]
  thought(text: string): readonly Frame[]
  text(chunk: string): readonly Frame[]
  call(call: ToolUse): readonly Frame[]
  close(): readonly Frame[]
  /** The whole answer, for a request without streaming. */
  whole(): JsonObject
}

/** Estimates that are the same in every run. */
export interface Tokens {
  readonly input: number
  readonly output: number
}

/** The arguments as a string, for APIs that want one. */
export const inputText = ({ freeText, input }: ToolUse): string =>
  JSON.stringify(freeText === undefined ? input : { input: freeText })

/** Two halves, so that the client has deltas to join. */
export function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}

let lastId = 0
/** Unique within the process, and the same in every run. */
export const newId = (prefix: string): string => `${prefix}${String((lastId += 1)).padStart(8, '0')}`
