import type { Turn } from '@agentproto/contracts'
import type { SharedLog } from '@agentproto/contracts/agent'
import { turnsOf } from '../turns/turn-log.js'
import { FoldedLogs } from './folded-logs.js'

/** So many turns are kept of a log while it is read; older ones are read again. */
const KEPT_TURNS = 1_000
/** Logs whose turns are kept. */
const KEPT_LOGS = 8

/** The latest turns of logs, each of which was read from its beginning once. */
export const logTurns = (): FoldedLogs<readonly Turn[]> =>
  new FoldedLogs({
    fold: latestOf,
    most: { logs: KEPT_LOGS, size: 2 * KEPT_TURNS * KEPT_LOGS },
    sizeOf: (turns) => turns.length,
  })

async function latestOf(log: SharedLog): Promise<readonly Turn[]> {
  let all: Turn[] = []
  for await (const turn of turnsOf({ log })) {
    all.push(turn)
    if (all.length >= 2 * KEPT_TURNS) all = all.slice(-KEPT_TURNS)
  }
  return all
}
