import { isRecord, type Json } from '@agentproto/contracts'
import type { OpenSessionOptions } from '@agentproto/contracts/agent'
import type { PromptTool } from './tools.js'

export interface CallContext {
  readonly prompt: string
  readonly session: string | undefined
  readonly opening: OpenSessionOptions
}

/** The arguments of a call: the manifest's constants, in which `{cwd}` is filled, then the prompt and the session. */
export function callArguments(
  { argument, session: takesSession, extra }: PromptTool,
  { prompt, session, opening }: CallContext,
): Json {
  return {
    ...(filled(extra, opening.cwd) as Json),
    [argument]: prompt,
    ...(takesSession === undefined || session === undefined ? {} : { [takesSession]: session }),
  }
}

function filled(value: unknown, cwd: string): unknown {
  if (typeof value === 'string') return value.replaceAll('{cwd}', () => cwd)
  if (Array.isArray(value)) return value.map((item) => filled(item, cwd))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, cwd)]))
}
