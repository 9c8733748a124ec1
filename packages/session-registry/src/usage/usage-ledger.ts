import {
  addCost,
  type Budget,
  type Clock,
  type Cost,
  defined,
  type GapNotice,
  type Session,
  type SessionEvent,
} from '@agentproto/contracts'
import type { UsageMeter } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'
import type { RegistryConfig } from '../registry-config.js'
import { budgetError, OWN, OWN_TEXT, sharesOf } from './budget-share.js'
import { type Counted, measure, newMeter, runningTurn, type Spent, spentOf, uncounted } from './meter.js'
import { type CountedSessions, dayOf, type UsageRow, type UsageStore } from './usage-row.js'
import { UsageWriter } from './usage-writer.js'
import { withoutCosts } from './claim.js'
import { SharedBudgets } from './shared-budgets.js'
import { add, believed, emptySum, type MutableSum, type Scope, standingOf } from './budget-scope.js'
import type { SessionHandle } from '../session/session-handle.js'
import type { Standing } from './standing.js'

/**
 * What all sessions of a host use: it adds it up for the budgets that several share, and hands each turn to the store. A
 * session asks it before each decision, so that a turn is admitted only while every budget has room.
 */

export interface LedgerHost {
  readonly clock: Clock
  readonly config: RegistryConfig
  readonly usage: UsageStore
  readonly onProblem: (problem: string) => void
  readonly sessions: () => LedgerSessions
  /** Called with each row that is counted. Must not throw. */
  readonly onUsage?: ((row: UsageRow) => void) | undefined
}

export interface LedgerSessions {
  /** The loaded session, if there is one; it is not loaded for it. */
  peek(id: string): SessionHandle | undefined
  /** The meters of every session that a session's agent started, directly or through others. */
  metersBelow(id: string): readonly UsageMeter[]
}

const NO_STANDINGS: readonly Standing[] = []

/** Longer lines of descent are not followed; none is allowed to grow that long. */
const MAX_DEPTH = 64

export class UsageLedger {
  readonly #host: LedgerHost
  readonly #writer: UsageWriter
  /** Undefined where the configuration has none. */
  readonly #shared: SharedBudgets | undefined
  /** Of sessions with a budget, and all that their agents started. */
  readonly #families = new WeakMap<SessionHandle, MutableSum>()
  readonly #standings = new WeakMap<SessionHandle, Known>()
  /** What sessions reported and is not believed: until its turn is counted, by id. */
  readonly #disputes = new Map<string, readonly Cost[]>()
  /** In all, while the session is loaded. */
  readonly #disputed = new WeakMap<SessionHandle, readonly Cost[]>()
  /** What the store had when it was opened; undefined if it keeps nothing. */
  #counted: Pick<CountedSessions, 'since'> | undefined
  /** Up to which event each session is counted. */
  #seqs = new Map<string, number>()
  /** Changes whenever a sum does. */
  #revision = 0

  constructor(host: LedgerHost) {
    this.#host = host
    this.#writer = new UsageWriter(host)
    const { budgets } = host.config
    this.#shared = budgets && new SharedBudgets(budgets, dayOf(host.clock.now()))
  }

  /** Reads what was counted before. @throws `storage_failed` */
  async open(): Promise<void> {
    const { usage, clock } = this.#host
    const today = dayOf(clock.now())
    this.#shared?.turn(today)
    const counted = await this.#openStore(today)
    this.#counted = counted
    this.#seqs = new Map(counted?.seqs)
    const shared = this.#shared
    // All days are read only where a budget spans them.
    if (shared !== undefined)
      for await (const rows of usage.rows(shared.spansAll ? '' : today, today))
        for (const row of rows) shared.addRow(row)
  }

  async #openStore(today: string): Promise<CountedSessions | undefined> {
    const { usage, config, onProblem } = this.#host
    try {
      return await usage.open(today)
    } catch (error) {
      if (config.budgets !== undefined) throw error
      // Without budgets, sessions can run although it is not known what was used before.
      onProblem(messageOf(error))
      return undefined
    }
  }

  /** Rows of some days, also those that could not be stored yet. @throws `storage_failed` */
  rows(from: string, to: string): AsyncIterable<readonly UsageRow[]> {
    return this.#writer.rows(from, to)
  }

  close(): Promise<void> {
    return this.#writer.close()
  }

  /** The budgets that hold for a session, with what was used of them: the same list until one of them changes. */
  standingsOf(session: SessionHandle): readonly Standing[] {
    this.#turnDay()
    const { spawn, session: record } = session.state
    const key = { budget: spawn.budget, workspaceSlug: record.workspaceSlug, revision: this.#revision }
    const known = this.#standings.get(session)
    if (known !== undefined && isSame(known, key)) return known.standings
    const scopes = this.#scopesOf(session)
    const standings = scopes.length === 0 ? NO_STANDINGS : scopes.map((scope) => this.#standingOf(scope, session))
    this.#standings.set(session, { standings, ...key })
    return standings
  }

  /** @throws `budget_exceeded` when a new session in the workspace, or below that parent, would have no room */
  assertRoom(workspaceSlug: string, parentId?: string): void {
    this.#turnDay()
    const parent = parentId === undefined ? undefined : this.#host.sessions().peek(parentId)
    const scopes = [...(parent === undefined ? [] : this.#familiesOf(parent)), ...this.#sharedBy(workspaceSlug)]
    const shares = sharesOf({ standings: scopes.map(standingOf), meter: newMeter() }, this.#host.clock.now())
    const full = shares.find(({ share }) => share >= 1)
    if (full !== undefined) throw budgetError(full)
  }

  /** Adds to every budget that holds for the session. @returns whether there is one */
  spend(session: SessionHandle, spent: Spent): boolean {
    this.#turnDay()
    const { id, workspaceSlug } = session.state.session
    const shared = this.#sharedBy(workspaceSlug)
    const { counts, disputed } = believed(spent, shared)
    if (disputed.length > 0) {
      this.#disputes.set(id, addCost(this.#disputes.get(id), disputed))
      this.#disputed.set(session, addCost(this.#disputed.get(session), disputed))
    }
    const isOwn = this.#add(this.#familiesOf(session), spent)
    return this.#add(shared, counts, id) || isOwn
  }

  /** Stores a turn of a session that ended, once. */
  count(
    { id: session, adapterSlug: agent, workspaceSlug: workspace, cwd, config }: Session,
    { seq, ts, usage }: Counted,
  ): void {
    if (seq <= (this.#seqs.get(session) ?? 0)) return
    this.#seqs.set(session, seq)
    const model = config?.modelId ?? config?.options?.find(({ category }) => category === 'model')?.value
    const row: UsageRow = {
      day: dayOfTime(ts),
      session,
      agent,
      workspace,
      cwd,
      ...(typeof model === 'string' && { model: model.slice(0, MAX_MODEL) }),
      seq,
      ...usage,
      ...defined({ disputed: this.#disputes.get(session) }),
    }
    this.#disputes.delete(session)
    this.#host.onUsage?.(row)
    this.#writer.add(row)
  }

  /**
   * Counts what the log of a session says and the store does not have: the host ended in between. What the open turn has
   * used is added to the budgets.
   */
  async recover(session: SessionHandle, events: () => AsyncIterable<SessionEvent | GapNotice>): Promise<void> {
    const { meter, spawn, session: record } = session.state
    // What its own budget has used is in its meter.
    const shared = this.#sharedBy(record.workspaceSlug)
    this.#add(shared, uncounted(meter))
    if (!this.lacks(record, meter)) return
    const upTo = this.#countedOf(record.id, meter)
    let read = newMeter(spawn.reportedCost)
    let disputed: readonly Cost[] = []
    for await (const event of events()) {
      if (event.type === 'gap') continue
      const { meter: next, spent, counted } = measure(read, event)
      read = next
      if (spent !== undefined) disputed = addCost(disputed, believed(spent, shared).disputed)
      if (counted === undefined) continue
      if (counted.seq > upTo && dayOfTime(counted.ts) >= (this.#counted?.since ?? ''))
        this.#recoverTurn(record, { counted, disputed, shared })
      disputed = []
    }
  }

  #recoverTurn(
    record: Session,
    { counted, disputed, shared }: { counted: Counted; disputed: readonly Cost[]; shared: readonly Scope[] },
  ): void {
    const { cost = [], ...spent } = spentOf(counted.usage)
    this.#add(shared, { ...spent, cost: withoutCosts(cost, disputed) }, record.id)
    if (disputed.length > 0) this.#disputes.set(record.id, disputed)
    this.count(record, counted)
  }

  /** Counts an ended session as its record has it, where no day is stored: the store is new, or was deleted. */
  recoverWhole(record: Session, { countedSeq: seq, usage, elsewhere }: UsageMeter): boolean {
    if (this.#counted === undefined || this.#counted.since !== undefined || elsewhere !== undefined) return false
    this.#add(this.#sharedBy(record.workspaceSlug), spentOf(usage))
    this.count(record, { seq, ts: record.lastActiveAt, usage })
    return true
  }

  /** Whether the store lacks a turn of a session. */
  lacks({ id, lastActiveAt }: Session, meter: UsageMeter): boolean {
    if (this.#counted === undefined || meter.countedSeq <= this.#countedOf(id, meter)) return false
    return dayOfTime(lastActiveAt) >= (this.#counted.since ?? '')
  }

  /** What another host has counted is not counted again. */
  #countedOf(id: string, { elsewhere = 0 }: UsageMeter): number {
    return Math.max(this.#seqs.get(id) ?? 0, elsewhere)
  }

  /** A session was deleted: no further event of it can come. */
  forget(id: string): void {
    this.#seqs.delete(id)
    this.#disputes.delete(id)
  }

  /** Forgets what it knows of an ended session: a resume adds it up again. */
  release(session: SessionHandle): void {
    this.#standings.delete(session)
    this.#families.delete(session)
  }

  #sharedBy(workspaceSlug: string): readonly Scope[] {
    return this.#shared?.of(workspaceSlug) ?? []
  }

  #scopesOf(session: SessionHandle): Scope[] {
    return [...this.#familiesOf(session), ...this.#sharedBy(session.state.session.workspaceSlug)]
  }

  /** Its own budget, and those of its ancestors, which hold for all that they start. */
  #familiesOf(session: SessionHandle): Scope[] {
    const scopes: Scope[] = []
    let each: SessionHandle | undefined = session
    for (let depth = 0; depth < MAX_DEPTH && each !== undefined; depth += 1) {
      const { spawn, session: record }: SessionHandle['state'] = each.state
      const limit = spawn.budget ?? this.#host.config.budgets?.session
      if (limit !== undefined) scopes.push({ ...nameOf(each, session), limit, sum: this.#familySum(each) })
      each = record.parentSessionId === undefined ? undefined : this.#host.sessions().peek(record.parentSessionId)
    }
    return scopes
  }

  #familySum(session: SessionHandle): MutableSum {
    const known = this.#families.get(session)
    if (known !== undefined) return known
    const sum = emptySum()
    this.#families.set(session, sum)
    for (const meter of [session.state.meter, ...this.#host.sessions().metersBelow(session.id)]) {
      add(sum, spentOf(meter.usage))
      add(sum, runningTurn(meter))
    }
    return sum
  }

  /** Others do not see what is not believed of a session, but it is held to what it reported itself. */
  #standingOf(scope: Scope, session: SessionHandle): Standing {
    const standing = standingOf(scope)
    const { currency = '' } = scope.limit.cost ?? {}
    const disputed = this.#disputed.get(session)?.find((each) => each.currency === currency)?.amount
    if (disputed === undefined || !scope.isShared) return standing
    const cost = new Map(standing.spent.cost).set(currency, (standing.spent.cost.get(currency) ?? 0) + disputed)
    return { ...standing, spent: { ...standing.spent, cost }, disputed }
  }

  /** @param session who spends, where it is to be known */
  #add(scopes: readonly Scope[], spent: Spent, session?: string): boolean {
    for (const { sum } of scopes) add(sum, spent, session)
    if (scopes.length > 0) this.#revision += 1
    return scopes.length > 0
  }

  #turnDay(): void {
    if (this.#shared?.turn(dayOf(this.#host.clock.now())) === true) this.#revision += 1
  }
}

const MAX_MODEL = 200

/** What the standings of a session follow from: it may be resumed with another budget, or in another workspace. */
interface Basis {
  readonly budget: Budget | undefined
  readonly workspaceSlug: string
  readonly revision: number
}

interface Known extends Basis {
  readonly standings: readonly Standing[]
}

const isSame = (a: Basis, b: Basis): boolean =>
  a.revision === b.revision && a.budget === b.budget && a.workspaceSlug === b.workspaceSlug

/** @param ts ISO-8601 in UTC */
const dayOfTime = (ts: string): string => ts.slice(0, 10)

const nameOf = (each: SessionHandle, session: SessionHandle): Pick<Scope, 'key' | 'whose'> =>
  each === session
    ? { key: OWN, whose: OWN_TEXT }
    : { key: `${OWN} ${each.id}`, whose: `of the session ${each.id}, which started this one` }
