import {
  AgentprotoError,
  type PromptRequest,
  type QueuedTurn,
  type SessionEvent,
  type Turn,
  TurnCollector,
  type TurnDetail,
  type TurnQuery,
  type TurnResult,
} from '@agentproto/contracts'
import { cancelled, outcomeUnknown } from './connection-error.js'
import type { OnConnectionState } from './connection-state.js'
import { eventFeed, type FollowEventsOptions } from './event-feed.js'
import { readEventStream } from './event-stream.js'
import { type Feed, follow, itemsOf } from './feed.js'
import { type Call, callOf } from './operation-call.js'
import { isRepeatable, type Transport } from './transport.js'

export interface TurnWaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Told when the connection comes and goes. */
  readonly onState?: OnConnectionState
}

/** Where the turns and events of sessions are read. */
export interface TurnSource {
  turns(id: string, query: TurnQuery): Promise<readonly Turn[]>
  turn(id: string, turn: number): Promise<TurnDetail | QueuedTurn>
  events(id: string, options: FollowEventsOptions): AsyncIterable<SessionEvent>
}

/** A prompt whose turn is waited for. With an `idempotencyKey` it is sent again where nothing came back. */
export type AwaitedPrompt = Pick<PromptRequest, 'prompt' | 'idempotencyKey'>

interface Waiting extends TurnWaitOptions {
  readonly id: string
}

/**
 * Sends a prompt and follows its turn to the end. The answer to the prompt is the turn's own events; where
 * that connection breaks, the log is followed instead.
 */
export async function promptAndWait(
  transport: Transport,
  request: AwaitedPrompt,
  waiting: Waiting,
): Promise<TurnResult> {
  let collector: TurnCollector | undefined
  for await (const event of eventsOfPrompt(transport, request, waiting)) {
    collector ??= new TurnCollector(event.turn ?? 0)
    const result = collector.add(event)
    if (result !== undefined) return result
  }
  throw endedWithoutTurnEnd(waiting.id)
}

/** Follows a turn that was admitted before, or that is queued, to its end. @throws `turn_not_found` */
export async function waitTurn(source: TurnSource, number: number, { id, ...following }: Waiting): Promise<TurnResult> {
  const [begun] = await source.turns(id, { after: number - 1, limit: 1 })
  const collector = new TurnCollector(number)
  const options = {
    after: begun === undefined ? await eventsBefore(source, id, number) : begun.firstSeq - 1,
    ...following,
  }
  for await (const event of source.events(id, options)) {
    const result = collector.add(event)
    if (result !== undefined) return result
  }
  throw endedWithoutTurnEnd(id)
}

/** The last event before those of a turn that had not begun when one looked. */
async function eventsBefore(source: TurnSource, id: string, number: number): Promise<number> {
  const turn = await source.turn(id, number)
  return turn.state === 'queued' ? turn.afterSeq : turn.firstSeq - 1
}

async function* eventsOfPrompt(
  transport: Transport,
  body: AwaitedPrompt,
  { id, ...following }: Waiting,
): AsyncGenerator<SessionEvent> {
  const { signal } = following
  const call = callOf('POST /sessions/:id/prompt', { params: { id }, body, signal })
  const feed = eventFeed(id, { signal })
  let cause: unknown
  for (let tries = isRepeatable(call) ? TRIES : 1; tries > 0 && nothingOf(feed); tries--) {
    cause = yield* answerTo(transport, call, feed)
    // Only reached when the stream broke before the turn's end: whoever has the end asks for no more.
    if (signal?.aborted) throw cancelled(cause)
  }
  if (nothingOf(feed)) throw outcomeUnknown(transport.url, cause)
  yield* follow(transport, eventFeed(id, { after: Number(feed.cursor), ...following }))
}

const TRIES = 3

const nothingOf = ({ cursor }: Feed<SessionEvent>): boolean => cursor === '0'

/** The events of one answer. @returns why it ended, where that is known */
async function* answerTo(
  transport: Transport,
  call: Call,
  feed: Feed<SessionEvent>,
): AsyncGenerator<SessionEvent, unknown> {
  const response = await transport.postForStream(call)
  try {
    const { signal } = call
    const batches = readEventStream(response, { ...transport.settings, signal })
    for await (const messages of batches) yield* itemsOf(feed, messages)
    return undefined
  } catch (thrown) {
    return thrown
  }
}

const endedWithoutTurnEnd = (id: string): AgentprotoError =>
  new AgentprotoError('agent_exited', 'The session ended before its turn did', {
    hint: `See: agentproto sessions show ${id}`,
  })
