import type { SessionEvent } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import type { Frame } from '../render/paint.js'
import { Transcript } from '../render/transcript.js'
import { typedText } from './outgoing-prompts.js'

/** So many earlier prompts are read for the history. */
const EARLIER_PROMPTS = 100
const PAGE = 1_000

/** The prompts of the turns up to `turn`, newest first. */
export async function* earlierPrompts(client: Client, id: string, turn: number): AsyncGenerator<string> {
  const turns = await client.sessions.turns(id, { after: Math.max(0, turn - EARLIER_PROMPTS), limit: EARLIER_PROMPTS })
  for (const { number, firstSeq } of turns.toReversed()) {
    if (number > turn) continue
    const { events } = await client.sessions.eventsPage(id, firstSeq - 1, 1)
    const [first] = events
    if (first?.type === 'user-prompt') yield typedText(first.content)
  }
}

/** The rows of the whole log as it is now, from the first turn. */
export async function* wholeTranscript(client: Client, id: string, { paint, width }: Frame): AsyncGenerator<string> {
  const transcript = new Transcript({ paint, width: () => width })
  for await (const event of wholeLog(client, id)) yield* transcript.apply(event)
  yield* transcript.finishPartial()
}

async function* wholeLog(client: Client, id: string): AsyncGenerator<SessionEvent> {
  const { lastSeq } = await client.sessions.get(id)
  for (let after = 0; after < lastSeq;) {
    const { events, nextAfter } = await client.sessions.eventsPage(id, after, PAGE)
    yield* events
    if (nextAfter <= after) return
    after = nextAfter
  }
}
