import type { Budget } from '@agentproto/contracts'
import type { BudgetConfig } from '../registry-config.js'
import { add, emptySum, type MutableSum, type Scope, WORKSPACE } from './budget-scope.js'
import { withoutCosts } from './claim.js'
import { spentOf } from './meter.js'
import type { UsageRow } from './usage-row.js'

/** The budgets of the configuration that sessions share, with what was used of each. */
export class SharedBudgets {
  readonly #config: BudgetConfig
  /** By their key. */
  readonly #sums = new Map<string, MutableSum>()
  #day: string

  /** @param day `YYYY-MM-DD` */
  constructor(config: BudgetConfig, day: string) {
    this.#config = config
    this.#day = day
  }

  /** Whether one of them spans all days. */
  get spansAll(): boolean {
    return Object.values(this.#config.workspaces ?? {}).some(({ total }) => total !== undefined)
  }

  /** Those that hold for the sessions of a workspace. */
  of(workspaceSlug: string): Scope[] {
    const { workspaces, day: ofDay } = this.#config
    const { day, total } = ownMember(workspaces, workspaceSlug) ?? {}
    const whose = `of the workspace ${workspaceSlug}`
    return [
      this.#scope({ key: `day ${this.#day}`, whose: 'of this day' }, ofDay),
      this.#scope({ key: `${WORKSPACE}${workspaceSlug} day ${this.#day}`, whose: `${whose} for this day` }, day),
      this.#scope({ key: `${WORKSPACE}${workspaceSlug}`, whose }, total),
    ].filter((each) => each !== undefined)
  }

  /** A new day has nothing used yet. @returns whether it is one */
  turn(day: string): boolean {
    if (day === this.#day) return false
    for (const key of this.#sums.keys()) if (key.endsWith(`day ${this.#day}`)) this.#sums.delete(key)
    this.#day = day
    return true
  }

  /** Adds what is stored. */
  addRow({ day, workspace, session, disputed, ...usage }: UsageRow): void {
    const keys = [
      `${WORKSPACE}${workspace}`,
      ...(day === this.#day ? [`day ${day}`, `${WORKSPACE}${workspace} day ${day}`] : []),
    ]
    const { cost = [], ...spent } = spentOf(usage)
    for (const key of keys) add(this.#sumOf(key), { ...spent, cost: withoutCosts(cost, disputed) }, session)
  }

  #scope(name: Pick<Scope, 'key' | 'whose'>, limit: Budget | undefined): Scope | undefined {
    return limit && { ...name, limit, sum: this.#sumOf(name.key), isShared: true }
  }

  #sumOf(key: string): MutableSum {
    const sum = this.#sums.get(key) ?? emptySum()
    this.#sums.set(key, sum)
    return sum
  }
}

/** A slug may be called like a member that every object has. */
const ownMember = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
