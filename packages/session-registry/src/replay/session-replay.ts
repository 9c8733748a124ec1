import type { Clock, Turn, TurnDetail } from '@agentproto/contracts'
import type { EventBatch, SessionReplay, SharedLog } from '@agentproto/contracts/agent'
import type { EventReader, OutputReader } from '@agentproto/contracts/wire'
import { exportOf } from '../archive/session-export.js'
import { eventOf } from '../log/event-record.js'
import { endOf } from '../log/log-batches.js'
import { gapNotice, type LogItem } from '../log/log-gap.js'
import { OutputFeed } from '../output/output-feed.js'
import type { FoldedLogs } from './folded-logs.js'
import { logRequests } from './log-requests.js'
import { logTurns } from './log-turns.js'
import { startOf } from '../turns/turn-history.js'
import { readTurn, readTurns, type TurnSource, withPrompt } from '../turns/turn-log.js'

/** Answers of a session of another host, with the code that answers for those of this one. */
export function sessionReplay({ clock }: { readonly clock: Clock }): SessionReplay {
  const turns = logTurns()
  const requests = logRequests()
  const source = async (log: SharedLog): Promise<TurnSource> => sourceOf(log, await turns.of(log))
  return {
    async output(log, lastN) {
      const feed = await outputOf(log, { clock, turns, isOver: () => true })
      try {
        return await feed.lines(lastN)
      } finally {
        feed.closed()
      }
    },
    followOutput: (log, cursor) => followOutput(log, cursor, { clock, turns }),
    turns: async (log, query) => readTurns(await source(log), query),
    async turn(log, number) {
      const known = await source(log)
      return number > known.turns.count ? undefined : detailOf(known, number)
    },
    async result(log, number) {
      const known = await source(log)
      if (number > known.turns.count) return undefined
      const result = await readTurn(known, number)
      return result.state === 'ended' ? result : undefined
    },
    requests: (log) => requests.of(log),
    export: (log, format) => exportOf(log.session, itemsOf(log), { format, now: new Date(clock.now()).toISOString() }),
  }
}

interface FeedOptions {
  readonly clock: Clock
  readonly turns: FoldedLogs<readonly Turn[]>
  readonly isOver: () => boolean
}

/** @param follow opens a reader; without it that of the log */
async function outputOf(
  log: SharedLog,
  { clock, turns: known, isOver }: FeedOptions,
  follow = (after: number): EventReader => log.follow(after),
): Promise<OutputFeed> {
  const [turns, lastSeq] = await Promise.all([known.of(log), log.lastSeq()])
  return new OutputFeed({
    log: {
      lastSeq,
      open: () => Promise.resolve(),
      batches: (after) => log.batches(after),
      follow: (after) => Promise.resolve(follow(after)),
    },
    turns: { all: turns, startOf: (seq) => startOf(turns, seq) },
    clock,
    isOver,
  })
}

async function followOutput(
  log: SharedLog,
  cursor: string | undefined,
  options: Omit<FeedOptions, 'isOver'>,
): Promise<OutputReader> {
  let isOver = false
  const follow = (after: number): EventReader => endNoticing(log.follow(after), () => (isOver = true))
  const feed = await outputOf(log, { ...options, isOver: () => isOver }, follow)
  try {
    return await feed.follow(cursor)
  } finally {
    feed.closed()
  }
}

/** A log that is read elsewhere is over when its reader is. */
const endNoticing = (reader: EventReader, onEnd: () => void): EventReader => ({
  async next(signal) {
    const batch: EventBatch | undefined = await reader.next(signal)
    if (batch === undefined && signal?.aborted !== true) onEnd()
    return batch
  },
  close: () => reader.close(),
})

const sourceOf = (log: SharedLog, all: readonly Turn[]): TurnSource => ({
  log,
  turns: { all, count: all.at(-1)?.number ?? 0, output: () => undefined },
})

const detailOf = async (source: TurnSource, number: number): Promise<TurnDetail> =>
  withPrompt(source, await readTurn(source, number))

async function* itemsOf(log: SharedLog): AsyncGenerator<LogItem> {
  let last = 0
  for await (const batch of log.batches(0)) {
    if (batch.gap !== undefined) yield gapNotice(batch.gap)
    for (const record of batch.records) yield eventOf(record)
    last = endOf(batch) ?? last
  }
  const { lastSeq } = log.session
  if (last < lastSeq) yield gapNotice({ after: last, first: lastSeq + 1 })
}
