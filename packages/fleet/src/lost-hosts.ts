import { AgentprotoError, type Clock, isAgentprotoError, type Session, toAgentprotoError } from '@agentproto/contracts'
import type { EventBatch, SessionMoves } from '@agentproto/contracts/agent'
import type { Host } from '@agentproto/contracts/wire'
import { Backoff } from './cluster/backoff.js'
import type { FleetLog } from './log/fleet-log.js'
import type { HostDirectory } from './directory/host-directory.js'
import type { LogPublisher } from './log/log-publisher.js'
import { lacksOf } from './services/placement.js'
import type { SessionDirectory } from './directory/session-directory.js'

export interface LostHostsOptions {
  readonly moves: SessionMoves
  readonly hosts: Pick<HostDirectory, 'host' | 'isReachable' | 'listen'>
  readonly directory: Pick<SessionDirectory, 'get' | 'owners' | 'ownedBy' | 'takeOver'>
  readonly publisher: Pick<LogPublisher, 'takeOver'>
  readonly log: Pick<FleetLog, 'read'>
  readonly clock: Clock
  /** This host as it is now. */
  readonly own: () => Promise<Host>
  /** Whether this host has the session itself. */
  readonly has: (id: string) => Promise<boolean>
  readonly onTaken: (id: string) => void
  readonly onProblem: (problem: string) => void
}

/** Takes over the sessions of lost hosts whose policy is `move`, one after the other. Of several hosts that try, one gets each. */
export class LostHosts {
  readonly #options: LostHostsOptions
  readonly #stopListening: () => void
  readonly #refused = new Set<string>()
  readonly #backoff: Backoff
  readonly #closing = new AbortController()
  #isWaiting = false
  #work: Promise<void> | undefined
  #isAgain = false

  constructor(options: LostHostsOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.clock)
    this.#stopListening = options.hosts.listen({ changed: () => this.#look(), joined: () => this.#look() })
    this.#look()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#stopListening()
    await this.#work
  }

  /** Also what was left half done by an earlier run. */
  #look(): void {
    if (this.#isClosed) return
    this.#isAgain = true
    this.#work ??= this.#takeAll().finally(() => (this.#work = undefined))
  }

  /** What is this host's already no other one finishes, and no change of a host need come. */
  #lookLater(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    void this.#backoff.wait(this.#closing.signal).then(() => {
      this.#isWaiting = false
      this.#look()
    })
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  async #takeAll(): Promise<void> {
    while (this.#isAgain && !this.#isClosed) {
      this.#isAgain = false
      for (const id of this.#movable()) {
        if (this.#isClosed) return
        await this.#take(id)
      }
    }
  }

  /** Sessions of hosts that are not heard from, and those that this host took without having them yet. */
  #movable(): readonly string[] {
    const { hosts, directory } = this.#options
    // Also of a host that was lost before this one started.
    const from = [...directory.owners()].filter((host) => host === hosts.host || !hosts.isReachable(host))
    return from
      .flatMap((host) => [...directory.ownedBy(host)])
      .filter((id) => {
        const { session, owner } = directory.get(id) ?? {}
        return session !== undefined && movesOn(session) && (owner !== hosts.host || session.movedFrom !== undefined)
      })
  }

  async #take(id: string): Promise<void> {
    const { directory, hosts, moves, publisher, onTaken, onProblem } = this.#options
    const record = directory.get(id)
    if (record === undefined || (record.owner === hosts.host && (await this.#options.has(id)))) return
    const from = record.owner === hosts.host ? record.session.movedFrom : record.owner
    try {
      await this.#assertAble(record.session)
      const epoch = await directory.takeOver(id)
      // Marked before the log is read: the earlier owner, which may still run, can store nothing after it.
      const lastSeq = await publisher.takeOver(id, epoch)
      onTaken(id)
      const { session, settings } = directory.get(id) ?? record
      const events = this.#events(id, lastSeq)
      await moves.takeOver({ session, from: from ?? record.owner, events, lastSeq, ...(settings && { settings }) })
      this.#refused.delete(id)
      this.#backoff.reset()
      onProblem(`The session ${id} of ${from} goes on here.`)
    } catch (thrown) {
      this.#report(id, thrown)
      if (directory.get(id)?.owner === hosts.host) this.#lookLater()
    }
  }

  /** Another host may be able. @throws `placement_refused` */
  async #assertAble({ adapterSlug: adapter, workspaceSlug }: Session): Promise<void> {
    const own = await this.#options.own()
    const lacks = [...lacksOf(own, { adapter, workspaceSlug }), ...(own.freeSessions > 0 ? [] : ['a free place'])]
    if (lacks.length === 0) return
    throw new AgentprotoError('placement_refused', `This host lacks ${lacks.join(', ')}`, {
      data: { hosts: { [own.name]: lacks } },
    })
  }

  async *#events(id: string, lastSeq: number): AsyncGenerator<EventBatch> {
    for (let after = 0; after < lastSeq;) {
      const batch = await this.#options.log.read(id, after, PAGE)
      const last = batch.records.at(-1)?.seq ?? (batch.gap === undefined ? after : batch.gap.first - 1)
      if (last <= after) return
      yield batch
      after = last
    }
  }

  /** Once for each session: that another host was faster, or that its host is back, is no problem. */
  #report(id: string, thrown: unknown): void {
    if (isAgentprotoError(thrown) && EXPECTED.has(thrown.code)) return
    if (this.#refused.has(id)) return
    this.#refused.add(id)
    this.#options.onProblem(
      `The session ${id} of a lost host does not go on here: ${toAgentprotoError(thrown).message}`,
    )
  }
}

const PAGE = 1_000
const EXPECTED: ReadonlySet<string> = new Set([
  'session_live',
  'session_not_found',
  'cluster_unavailable',
  'shutting_down',
])

/** One that has ended for good is only read, for which no host need have it. */
const movesOn = ({ onHostLoss, state }: Session): boolean =>
  onHostLoss === 'move' && state !== 'ended' && state !== 'failed'
