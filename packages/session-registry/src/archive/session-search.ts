import { defined, type EventGap, promptText, type Session, type SessionEvent } from '@agentproto/contracts'
import type { SearchHit } from '@agentproto/contracts/wire'
import type { LogItem } from '../log/log-gap.js'

/**
 * Searches a text in the messages of a session. Pieces of one message are joined first, because a word may be cut between
 * two of them; only as much of a message is kept as that needs.
 */

const EXCERPT_BEFORE = 60
const EXCERPT_AFTER = 100
/** A growing message is searched each time it has this many characters. */
const LOOK_AT = 32 * 1024

interface Message {
  readonly type: SessionEvent['type']
  readonly seq: number
  readonly ts: string
  readonly turn: number | undefined
  text: string
}

/**
 * Matches in one session, at most one for each message.
 * @param onGap called for events that could not be searched
 */
export async function* findIn(
  session: Session,
  events: AsyncIterable<LogItem>,
  { text, onGap }: { readonly text: string; readonly onGap: (gap: EventGap) => void },
): AsyncGenerator<SearchHit> {
  const search = new MessageSearch(session, text)
  for await (const event of events) {
    if (event.type === 'gap') onGap(event.gap)
    // An event after a gap is not part of the message before it.
    const hit = event.type === 'gap' ? search.end() : search.take(event)
    if (hit !== undefined) yield hit
  }
  const last = search.end()
  if (last !== undefined) yield last
}

class MessageSearch {
  readonly #session: Session
  readonly #wanted: string
  #message: Message | undefined
  /** The growing message has a match already. */
  #found = false

  constructor(session: Session, text: string) {
    this.#session = session
    this.#wanted = text.toLowerCase()
  }

  take(event: SessionEvent): SearchHit | undefined {
    const said = saidBy(event)
    if (said === undefined) return undefined
    if (GROWING.has(event.type) && this.#message?.type === event.type && this.#message.turn === event.turn) {
      if (this.#found) return undefined
      this.#message.text += said
      return this.#message.text.length < LOOK_AT ? undefined : this.#look(true)
    }
    const before = this.end()
    this.#message = { type: event.type, seq: event.seq, ts: event.ts, turn: event.turn, text: said }
    this.#found = false
    return before
  }

  /** The message is complete: what follows belongs to another one. */
  end(): SearchHit | undefined {
    const hit = this.#message === undefined || this.#found ? undefined : this.#look(false)
    this.#message = undefined
    return hit
  }

  #look(grows: boolean): SearchHit | undefined {
    const message = this.#message as Message
    const at = message.text.toLowerCase().indexOf(this.#wanted)
    if (at >= 0) {
      this.#found = true
      const hit = this.#hit(message, at)
      message.text = ''
      return hit
    }
    // Keep enough for a match that is cut here, and for the excerpt before it.
    if (grows) message.text = message.text.slice(-(this.#wanted.length + EXCERPT_BEFORE))
    return undefined
  }

  #hit({ type, seq, ts, turn, text }: Message, at: number): SearchHit {
    const { id, title } = this.#session
    const from = Math.max(0, at - EXCERPT_BEFORE)
    const to = Math.min(text.length, at + this.#wanted.length + EXCERPT_AFTER)
    const excerpt = `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
    return {
      sessionId: id,
      ...defined({ title, turn }),
      seq,
      ts,
      type,
      excerpt: excerpt.replaceAll(/\s+/g, ' ').trim(),
    }
  }
}

const GROWING: ReadonlySet<string> = new Set(['text-delta', 'thought'])

/** The text of an event that is searched. */
function saidBy(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'text-delta':
    case 'thought':
    case 'notice':
      return event.text
    case 'user-prompt':
      return promptText(event.content)
    case 'error':
      return event.message
    case 'tool-call':
      return [event.title ?? event.toolName, textOf(event.input)].filter((part) => part !== undefined).join(' ')
    case 'tool-result':
      return textOf(event.content ?? event.output)
    default:
      return undefined
  }
}

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))
