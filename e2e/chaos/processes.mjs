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
