import {
  AgentprotoError,
  type QueuedTurn,
  type SessionEvent,
  type Turn,
  TurnCollector,
  type TurnDetail,
  type TurnResult,
} from '@agentproto/contracts'
import type { PromptRequest, TurnQuery } from '@agentproto/contracts/wire'
import { cancelled, outcomeUnknown } from './connection-error.js'
import type { FollowOptions } from './connection-state.js'
import { eventFeed, type FollowEventsOptions } from './event-feed.js'
import { readEventStream } from './event-stream.js'
import { type Feed, follow, itemsOf } from './feed.js'
import { type Call, callOf } from './operation-call.js'
import { isRepeatable, type Transport } from './transport.js'

/** The calls that a wait needs. */
export interface TurnSource {
  turns(id: string, query: TurnQuery): Promise<readonly Turn[]>
  turn(id: string, turn: number): Promise<TurnDetail | QueuedTurn>
  events(id: string, options: FollowEventsOptions): AsyncIterable<SessionEvent>
}

/** A prompt to wait for. With an `idempotencyKey` it is sent again if no answer arrived. */
export type AwaitedPrompt = Pick<PromptRequest, 'prompt' | 'idempotencyKey'>

interface Waiting extends FollowOptions {
  readonly id: string
}

/** Sends a prompt and follows its turn: the stream that answers it or, if that breaks, the log. */
export async function promptAndWait(
  transport: Transport,
  request: AwaitedPrompt,
  waiting: Waiting,
): Promise<TurnResult> {
  return resultOf(eventsOfPrompt(transport, request, waiting), waiting)
}

/** Follows a turn that was accepted before, running or queued, to its end. @throws `turn_not_found` */
export async function waitTurn(source: TurnSource, number: number, { id, ...following }: Waiting): Promise<TurnResult> {
  const [begun] = await source.turns(id, { after: number - 1, limit: 1 })
  const after = begun === undefined ? await eventsBefore(source, id, number) : begun.firstSeq - 1
  return resultOf(source.events(id, { after, ...following }), { id, number })
}

interface Collected {
  readonly id: string
  /** Default: the turn of the first event. */
  readonly number?: number
}

/** Collects one turn from the events of a session. */
async function resultOf(events: AsyncIterable<SessionEvent>, { id, number }: Collected): Promise<TurnResult> {
  let collector: TurnCollector | undefined
  for await (const event of events) {
    collector ??= new TurnCollector(number ?? event.turn ?? 0)
    const result = collector.add(event)
    if (result !== undefined) return result
  }
  throw new AgentprotoError('agent_exited', 'The session ended before its turn did', {
    hint: `See: agentproto sessions show ${id}`,
  })
}

/** The last event before a turn that has not begun. */
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
  for (let tries = isRepeatable(call) ? TRIES : 1; tries > 0 && isEmpty(feed); tries--) {
    cause = yield* answerTo(transport, call, feed)
    // Only reached if the stream broke before the end of the turn: a caller that has the end stops iterating.
    if (signal?.aborted) throw cancelled(cause)
  }
  if (isEmpty(feed)) throw outcomeUnknown(transport.url, cause)
  yield* follow(transport, eventFeed(id, { after: Number(feed.cursor), ...following }))
}

const TRIES = 3

const isEmpty = ({ cursor }: Feed<SessionEvent>): boolean => cursor === '0'

/** The events of one answer. @returns the error that ended it, if any */
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
