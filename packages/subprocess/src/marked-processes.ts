import type { AgentProcessInfo } from '@agentproto/contracts/agent'
import { processTable } from './process-table.js'
import type { ProcessTable } from './process-table.js'
import { lineage } from './process-tree.js'

/** A running process with a session marker in its environment. */
export interface MarkedProcess extends AgentProcessInfo {
  readonly marker: string
}

/**
 * Finds the processes that a host left running when it died: its agents' descendants are then children of init, and only
 * the marker in their environment identifies them. This process and its ancestors are left out.
 * @param marker the session, including markers below it (`<session>/…`); undefined finds the processes of every session,
 * also of other hosts
 */
export function findMarkedProcesses(marker?: string, table: ProcessTable = processTable): readonly MarkedProcess[] {
  const rows = table.all()
  const own = lineage(rows)
  const isWanted = (value: string): boolean =>
    value !== '' && (marker === undefined || value === marker || value.startsWith(`${marker}/`))
  return [...rows.values()].flatMap(({ pid, startTime }) => {
    const value = own.has(pid) ? '' : (table.marker(pid) ?? '')
    return isWanted(value) ? [{ pid, startTime, marker: value }] : []
  })
}
