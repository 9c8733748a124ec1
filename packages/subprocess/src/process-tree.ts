import type { AgentProcessInfo } from '@agentproto/contracts/agent'
import { processTable } from './process-table.js'
import type { ProcessRow, ProcessTable } from './process-table.js'

/** How many processes of one tree are recorded. Ended ones are dropped first. */
const MAX_KNOWN = 4096

export interface TreeRoots {
  /** Leader of an own process group. */
  readonly leader?: AgentProcessInfo
  /** Value of the session marker that the processes of the tree inherit. */
  readonly marker?: string
  /** Processes known from elsewhere, such as the record of a daemon that died. */
  readonly known?: readonly AgentProcessInfo[]
}

/**
 * Everything that an agent started, recorded by pid and start time. Members are found by parent, by process group and
 * by the session marker, because each alone misses some: tools run in sessions of their own, orphans lose their parent,
 * and a cleared environment loses the marker.
 */
export class ProcessTree {
  readonly #known = new Map<number, string>()
  readonly leader: AgentProcessInfo | undefined
  readonly #marker: string | undefined
  readonly #table: ProcessTable

  constructor({ leader, marker, known = [] }: TreeRoots, table: ProcessTable = processTable) {
    this.leader = leader
    this.#marker = marker
    this.#table = table
    for (const process of leader ? [leader, ...known] : known) this.#known.set(process.pid, process.startTime)
  }

  /** Searches the whole host, records the running members of the tree and returns them. */
  collect(): readonly ProcessRow[] {
    const marked = (row: ProcessRow): boolean =>
      this.#marker !== undefined && this.#table.marker(row.pid) === this.#marker
    return this.#remember(this.#table.all(), marked)
  }

  /** As `collect`, but by parent and group alone: cheap enough to run every few seconds. */
  record(rows: Map<number, ProcessRow>): void {
    this.#remember(rows, () => false)
  }

  /** The recorded members that are still running; cheap, and does not find new ones. */
  remaining(): readonly ProcessRow[] {
    const alive: ProcessRow[] = []
    for (const [pid, startTime] of this.#known) {
      const row = this.#table.one(pid)
      if (row?.startTime === startTime) alive.push(row)
    }
    return alive
  }

  #remember(rows: Map<number, ProcessRow>, marked: (row: ProcessRow) => boolean): readonly ProcessRow[] {
    const members = this.#membersIn(rows, marked)
    if (this.#known.size + members.size > MAX_KNOWN) this.#forgetDead(rows)
    for (const row of members.values()) this.#known.set(row.pid, row.startTime)
    return [...members.values()]
  }

  #membersIn(rows: Map<number, ProcessRow>, marked: (row: ProcessRow) => boolean): Map<number, ProcessRow> {
    const untouchable = lineage(rows)
    const members = new Map<number, ProcessRow>()
    const children = childrenOf(rows)
    const add = (row: ProcessRow): void => {
      if (untouchable.has(row.pid) || members.has(row.pid)) return
      members.set(row.pid, row)
      for (const child of children.get(row.pid) ?? []) add(child)
    }
    for (const row of rows.values()) if (this.#isRoot(row) || marked(row)) add(row)
    return members
  }

  #isRoot(row: ProcessRow): boolean {
    if (this.#known.get(row.pid) === row.startTime) return true
    return this.leader !== undefined && row.pgid === this.leader.pid
  }

  #forgetDead(rows: Map<number, ProcessRow>): void {
    for (const [pid, startTime] of this.#known) {
      if (rows.get(pid)?.startTime !== startTime) this.#known.delete(pid)
    }
  }
}

/** This process and its ancestors: a host that itself runs inside an agent must not end itself. */
export function lineage(rows: Map<number, ProcessRow>): Set<number> {
  const pids = new Set([0, 1])
  for (let pid = process.pid; !pids.has(pid); pid = rows.get(pid)?.ppid ?? 0) pids.add(pid)
  return pids
}

function childrenOf(rows: Map<number, ProcessRow>): Map<number, ProcessRow[]> {
  const children = new Map<number, ProcessRow[]>()
  for (const row of rows.values()) {
    const siblings = children.get(row.ppid)
    if (siblings) siblings.push(row)
    else children.set(row.ppid, [row])
  }
  return children
}
