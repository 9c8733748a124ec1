// The processes of this run, found by their environment.
import { readdirSync, readFileSync } from 'node:fs'

/** Pids of this run, without the gateway itself. */
export function markedProcesses(root, except) {
  const mark = `CHAOS_ROOT=${root}\0`
  const home = `HOME=${root}\0`
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== except && pid !== process.pid)
    .filter((pid) => {
      try {
        const environ = readFileSync(`/proc/${pid}/environ`, 'latin1')
        return environ.includes(mark) || environ.includes(home)
      } catch {
        return false
      }
    })
}

/** The processes of a session: its agent and what that has started. */
export function agentPids(root, sessionId) {
  const mark = `AGENTPROTO_SESSION_ID=${sessionId}\0`
  return markedProcesses(root).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
    } catch {
      return false
    }
  })
}

/** The roots below which each session has a process now: one reading of all processes. */
export function rootsOfSessions() {
  const roots = new Map()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const environment = environmentOf(entry)
    const session = environment.get('AGENTPROTO_SESSION_ID')
    const root = environment.get('CHAOS_ROOT')
    if (session === undefined || root === undefined) continue
    if (!roots.has(session)) roots.set(session, new Set())
    roots.get(session).add(root)
  }
  return roots
}

function environmentOf(pid) {
  try {
    const lines = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    return new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  } catch {
    return new Map()
  }
}
