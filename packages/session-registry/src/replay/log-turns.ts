import type { Turn } from '@agentproto/contracts'
import type { SharedLog } from '@agentproto/contracts/agent'
import { turnsOf } from '../turns/turn-log.js'

/** So many turns are kept of a log while it is read; older ones are read again. */
const KEPT_TURNS = 1_000
/** Logs whose turns are kept. */
const KEPT_LOGS = 8

interface Kept {
  readonly lastSeq: number
  readonly turns: Promise<readonly Turn[]>
}

/** The turns of logs that are read again and again, each of which was read from its beginning once. */
export class LogTurns {
  /** By session, the one that was asked for last at the end. */
  readonly #kept = new Map<string, Kept>()

  /** The latest ones. @throws `cluster_unavailable` */
  async of(log: SharedLog): Promise<readonly Turn[]> {
    const { id } = log.session
    const lastSeq = await log.lastSeq()
    const known = this.#kept.get(id)
    // A log only grows.
    const kept = known?.lastSeq === lastSeq ? known : { lastSeq, turns: latestOf(log) }
    this.#keep(id, kept)
    try {
      return await kept.turns
    } catch (thrown) {
      if (this.#kept.get(id) === kept) this.#kept.delete(id)
      throw thrown
    }
  }

  #keep(id: string, kept: Kept): void {
    this.#kept.delete(id)
    this.#kept.set(id, kept)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_LOGS) return
      this.#kept.delete(oldest)
    }
  }
}

async function latestOf(log: SharedLog): Promise<readonly Turn[]> {
  let all: Turn[] = []
  for await (const turn of turnsOf({ log })) {
    all.push(turn)
    if (all.length >= 2 * KEPT_TURNS) all = all.slice(-KEPT_TURNS)
  }
  return all
}
