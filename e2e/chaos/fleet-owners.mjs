// Looks at the processes of the machine all the time: no session has an agent on two hosts, and no host says that it has two owners.
import { rootsOfSessions } from './processes.mjs'

const EVERY_MS = 100

/** @returns `stop`, which ends it; `looks`, how often it has looked */
export function watchAgents(fault, read = rootsOfSessions) {
  const found = new Set()
  let looks = 0
  const timer = setInterval(() => {
    looks += 1
    for (const [session, roots] of read()) {
      if (roots.size < 2 || found.has(session)) continue
      found.add(session)
      fault(`${session} has agents on ${roots.size} hosts at once: ${[...roots].join(', ')}`)
    }
  }, EVERY_MS)
  return {
    stop: () => clearInterval(timer),
    get looks() {
      return looks
    },
  }
}
