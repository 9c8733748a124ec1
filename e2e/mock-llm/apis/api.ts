import type { Answer, AnswerWriter, Tokens } from '../answer.js'
import type { Conversation } from '../conversation.js'
import type { Json, JsonObject } from '../json.js'

/** How one vendor's API asks and is answered. */
export interface Api {
  readonly name: 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini'
  /** Whether a POST to this path is of this API. */
  readonly path: RegExp
  read(body: JsonObject, path: string): Conversation
  writer(answer: Answer, context: WriterContext): AnswerWriter
  errorBody(status: number, message: string): Json
}

export interface WriterContext {
  readonly model: string
  readonly tokens: Tokens
}

/** OpenAI's and Anthropic's names for what a status means. */
export const errorType = (status: number): string =>
  ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

export function openAiError(status: number, message: string): Json {
  const code = status === 429 ? 'rate_limit_exceeded' : null
  return { error: { message, type: errorType(status), code, param: null } }
}
