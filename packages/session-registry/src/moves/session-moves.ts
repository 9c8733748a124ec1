import { AgentprotoError, defined, type Session, type Timer } from '@agentproto/contracts'
import type { LostSession, MovedSettings, RunTimes, SessionMoves, Suspension } from '@agentproto/contracts/agent'
import type { Ending } from '../lifecycle/ending.js'
import type { ChangeFeed } from '../change-feed.js'
import type { RecordSaver } from '../record-saver.js'
import type { UsageLedger } from '../usage/usage-ledger.js'
import { type LostFacts, lostFacts } from './lost-facts.js'
import type { RunGuard } from './run-guard.js'
import { takeOver, type TakeOverHost } from './take-over.js'

export interface MovesHost extends TakeOverHost {
  readonly saver: RecordSaver
  readonly feed: ChangeFeed
  readonly ledger: Pick<UsageLedger, 'forget'>
  readonly guard: RunGuard
  /** Why it begins suspended. */
  readonly suspended?: string | undefined
}

/** See {@link SessionMoves}. */
export class Moves implements SessionMoves {
  readonly #host: MovesHost
  /** Sessions that are being taken over. */
  readonly #taking = new Set<string>()
  /** Why no session that may be moved runs here; undefined while they may. */
  #suspended: string | undefined

  constructor(host: MovesHost) {
    this.#host = host
    this.#suspended = host.suspended
  }

  async takeOver(lost: LostSession): Promise<Session> {
    const facts = lostFacts(lost)
    const { id } = facts
    if (this.#taking.has(id))
      throw new AgentprotoError('session_live', 'The session is being taken over', { given: id })
    this.#taking.add(id)
    try {
      return await this.#takeOver(facts, lost.events)
    } finally {
      this.#taking.delete(id)
    }
  }

  async giveUp(id: string, to: string): Promise<void> {
    const { sessions, saver } = this.#host
    const session = sessions.get(id)
    session.log.seal()
    try {
      await session.call('give-up', { to })
      this.#host.guard.look()
    } finally {
      await saver.save(session)
    }
  }

  settingsOf(id: string): MovedSettings {
    const {
      mode,
      options,
      instructions,
      envelope,
      continuation,
      title,
      loops,
      budget,
      requestTimeoutMs,
      changes,
      ...rest
    } = this.#host.sessions.get(id).state.spawn
    const { mcpServers = [] } = rest
    const given = {
      mode,
      options,
      instructions,
      envelope,
      continuation,
      title,
      loops,
      budget,
      requestTimeoutMs,
      changes,
    }
    return { ...defined(given), ...(mcpServers.length === 0 ? {} : { mcpServers: mcpServers.length }) }
  }

  async suspend(why: string, withinMs: number): Promise<Suspension> {
    const { sessions, clock, guard } = this.#host
    this.#suspended = why
    const stopping = sessions.live.filter(({ state }) => state.session.onHostLoss === 'move')
    const ending: Ending = { status: 'killed', stopReason: 'shutdown', failure: { kind: 'cancellation', summary: why } }
    const ended = new Set<string>()
    const ends = stopping.map((session) =>
      session.call('kill', { ending }).then(
        () => {
          ended.add(session.id)
          // A process that it shared goes on with sessions that wait for their host.
          guard.look()
        },
        () => undefined,
      ),
    )
    let timer: Timer | undefined
    await Promise.race([
      Promise.all(ends),
      new Promise<void>((resolve) => {
        timer = clock.after(withinMs, resolve)
      }),
    ])
    timer?.cancel()
    const ids = stopping.map(({ id }) => id)
    return { ended: ids.filter((id) => ended.has(id)), running: ids.filter((id) => !ended.has(id)) }
  }

  release(): void {
    this.#suspended = undefined
  }

  renew(times: RunTimes): void {
    if (this.#suspended === undefined) this.#host.guard.renew(times)
  }

  /** @throws `host_unreachable` where a session that may be moved must not run here now */
  assertMayRun({ onHostLoss }: Pick<Session, 'onHostLoss'>): void {
    if (this.#suspended === undefined || onHostLoss !== 'move') return
    throw new AgentprotoError('host_unreachable', 'The session cannot run here now: another host may have it', {
      given: this.#suspended,
      hint: 'Try again when this host has reached its fleet',
      data: { retryAfter: RETRY_SECONDS },
    })
  }

  async #takeOver(facts: LostFacts, events: LostSession['events']): Promise<Session> {
    const { sessions, store, feed } = this.#host
    const { id } = facts
    await this.#leaveFormer(id)
    const stored = await takeOver(facts, events, this.#host)
    // A call may have loaded the former record meanwhile, and changed it.
    if (await this.#leaveFormer(id)) await store.save(stored)
    sessions.put(stored)
    feed.changed(sessions.get(id), true)
    return sessions.get(id).snapshot()
  }

  /** What this host knew when it had the session before. @returns whether it was loaded */
  async #leaveFormer(id: string): Promise<boolean> {
    const { sessions, saver, ledger } = this.#host
    const former = sessions.peek(id)
    if (former?.state.session.movedTo === undefined || former.isLive) return false
    ledger.forget(id)
    // What of it was not saved yet must not replace the other record later.
    await saver.forget(former)
    await former.log.remove()
    sessions.put(former.stored())
    return true
  }
}

const RETRY_SECONDS = 5
