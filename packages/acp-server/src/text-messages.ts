import type { EventRecord } from '@agentproto/contracts/agent'
import type { EventNumber } from './client-link.js'
import { TEXT_UPDATES } from './event-updates.js'
import { numberOf } from './numbered-events.js'

/**
 * Pieces of text of a session as the JSON of their messages, cut from the JSON of the log. Most of a log is text, and to parse
 * it and to write it again costs more than all else that is done for it here. A test has them equal to the general way.
 */
export class TextMessages {
  readonly #numbered: boolean
  readonly #before: Readonly<Record<keyof typeof TEXT_UPDATES, string>>

  /** @param numbered whether messages have the numbers of their events */
  constructor(sessionId: string, numbered: boolean) {
    this.#numbered = numbered
    const params = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${JSON.stringify(sessionId)},"update":`
    const before = (sessionUpdate: string): string =>
      `${params}{"sessionUpdate":"${sessionUpdate}","content":{"type":"text","text":`
    this.#before = { 'text-delta': before(TEXT_UPDATES['text-delta']), thought: before(TEXT_UPDATES.thought) }
  }

  /** Undefined for what is no text, and for text with members that only the general way knows. */
  of({ type, json }: EventRecord): string | undefined {
    if (type !== 'text-delta' && type !== 'thought') return undefined
    const marker = MARKERS[type]
    const at = json.indexOf(marker)
    if (at < 0) return undefined
    const from = at + marker.length
    const end = endOfString(json, from)
    const id = end === json.length - 1 ? '' : messageIdIn(json, end)
    if (id === undefined) return undefined
    const number = this.#numbered ? `,"_meta":${JSON.stringify(numberOf(envelopeOf(json, at)))}` : ''
    return `${this.#before[type]}${json.slice(from - 1, end)}}${id}}${number}}}`
  }
}

/** The type and the text, which follow the envelope. */
const MARKERS = { 'text-delta': '"type":"text-delta","text":"', thought: '"type":"thought","text":"' }

const MESSAGE_ID = ',"messageId":"'

/** The member with its comma, if it is the last one. */
function messageIdIn(json: string, at: number): string | undefined {
  if (!json.startsWith(MESSAGE_ID, at)) return undefined
  const end = endOfString(json, at + MESSAGE_ID.length)
  return end === json.length - 1 ? json.slice(at, end) : undefined
}

/** @returns the place after the quote that ends a string */
function endOfString(json: string, from: number): number {
  let quote = json.indexOf('"', from)
  while (isEscaped(json, quote)) quote = json.indexOf('"', quote + 1)
  return quote + 1
}

/** Two backslashes are one that escapes nothing. */
function isEscaped(json: string, quote: number): boolean {
  let start = quote
  while (json.charCodeAt(start - 1) === BACKSLASH) start--
  return (quote - start) % 2 === 1
}

const BACKSLASH = 92

const envelopeOf = (json: string, end: number): EventNumber => JSON.parse(`${json.slice(0, end - 1)}}`) as EventNumber
