import { isContentBlock, promptError, type Verdict } from '@agentproto/arm-kit'
import { asList, asRecord, defined, isRecord, type Json, promptText } from '@agentproto/contracts'
import { textAt } from './path.js'
import type { Path } from './path.js'
import { SESSION_PATHS } from './profile.js'
import type { McpProfile } from './profile.js'

/** What a call of the prompt tool came back with. */
export interface CallAnswer {
  readonly verdict: Verdict
  /** What the agent said, all of it, whether or not it was streamed before. */
  readonly said: string
  /** The session's id, where the answer names it. */
  readonly session?: string
}

/** Reads the response to `tools/call`. */
export function readAnswer({ result, error }: Json, { data }: McpProfile): CallAnswer {
  if (isRecord(error)) return { verdict: { reason: 'error', error: promptError(error) }, said: '' }
  const answer = asRecord(result)
  const said = (data.text && textAt(answer, data.text)) ?? promptText(asList(answer['content']).filter(isContentBlock))
  const session = firstText(answer, data.session ? [data.session] : SESSION_PATHS)
  const verdict: Verdict =
    answer['isError'] === true
      ? { reason: 'error', error: { message: said || 'The agent failed the prompt' } }
      : { reason: 'end_turn' }
  return { verdict, said: verdict.error ? '' : said, ...defined({ session }) }
}

const firstText = (value: unknown, paths: readonly Path[]): string | undefined =>
  paths.map((path) => textAt(value, path)).find((found) => found !== undefined && found !== '')

/** How much of a streamed answer is remembered, in characters. */
const REMEMBERED = 64 * 1024

/** What of an answer was streamed before it came. */
export class Streamed {
  #tail = ''
  #length = 0

  said(piece: string): void {
    this.#length += piece.length
    this.#tail = (this.#tail + piece).slice(-REMEMBERED)
  }

  /** What is still to be said of the whole answer: nothing when it was streamed to its end, else the rest of it. */
  rest(answer: string): string {
    if (this.#length === 0) return answer
    // Spaces and newlines between messages are the server's taste.
    const tail = squashed(this.#tail)
    const whole = squashed(answer)
    if (tail.endsWith(whole)) return ''
    if (this.#tail.length < this.#length) return whole.endsWith(tail) ? '' : answer
    return answer.startsWith(this.#tail) ? answer.slice(this.#tail.length) : answer
  }
}

const squashed = (said: string): string => said.replaceAll(/\s+/g, '')
