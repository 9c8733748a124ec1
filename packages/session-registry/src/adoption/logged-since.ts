import type { EventGap, SessionEvent } from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'
import type { EventLog } from '../log/event-log.js'
import { eventOf } from '../log/event-record.js'
import { batchesOf } from '../log/log-batches.js'
import { type LoggedRequest, requestDigest } from './logged-requests.js'
import { isOfAgent, type Lane, laneOf, type LoggedSignal, mayBeIn, signalIn } from './logged-signal.js'
import { Difference } from './replay.js'

/** The part of a log that an adopted agent emits again. */
export interface LoggedPart {
  readonly log: Pick<EventLog, 'read'>
  /** The part begins after it. */
  readonly mark: number
  /** The last event of the part. */
  readonly end: number
}

/** What the agent had emitted, without what the host logged by itself. @param turn as for {@link signalIn} */
export async function* loggedSignals(
  part: LoggedPart,
  { turn, lane }: { readonly turn: number | undefined; readonly lane: Lane },
): AsyncGenerator<LoggedSignal> {
  for await (const event of eventsIn(part, ({ type }) => isOfAgent(type) && mayBeIn(lane, type))) {
    const signal = signalIn(event, turn)
    if (signal !== undefined && laneOf(signal) === lane) yield signal
  }
}

/** What else the log says about the part. */
export interface LoggedFacts {
  readonly requests: readonly LoggedRequest[]
  /** Turns that begin in it and were sent to the agent. */
  readonly begun: readonly number[]
  /** Turns that an earlier host gave up after an adoption: they are not compared again. */
  readonly givenUp: readonly number[]
}

/** @throws {@link Difference} when events are lost */
export async function factsOf(part: LoggedPart): Promise<LoggedFacts> {
  const requests: LoggedRequest[] = []
  const begun: number[] = []
  const givenUp: number[] = []
  for await (const event of eventsIn(part, ({ type }) => FACTS.has(type))) {
    if (event.type === 'agent-prompt')
      requests.push({ requestId: event.requestId, digest: requestDigest(event.request) })
    if (event.turn === undefined) continue
    if (event.type === 'user-prompt' && event.sent !== false) begun.push(event.turn)
    if (event.type === 'repair') givenUp.push(event.turn)
  }
  return { requests, begun, givenUp }
}

const FACTS: ReadonlySet<SessionEvent['type']> = new Set(['agent-prompt', 'user-prompt', 'repair'])

async function* eventsIn(
  { log, mark, end }: LoggedPart,
  isWanted: (record: EventRecord) => boolean,
): AsyncGenerator<SessionEvent> {
  for await (const { records, gap } of batchesOf(log, mark)) {
    if (gap !== undefined && gap.after < end) throw lost(gap)
    for (const record of records) {
      if (record.seq > end) return
      if (isWanted(record)) yield eventOf(record)
    }
  }
}

const lost = ({ after, first }: EventGap): Difference =>
  new Difference(`the events ${after + 1} to ${first - 1} of the log are lost`)
