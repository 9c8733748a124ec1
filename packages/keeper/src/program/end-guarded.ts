import type { Clock } from '@agentproto/contracts'
import type { Guarded } from './guard.js'
import type { HeldAgent } from './held-agent.js'
import { markedPids, startTimeOf } from './process-identity.js'

interface Ending {
  readonly held: readonly HeldAgent[]
  readonly clock: Clock
  /** Whether a gateway has said meanwhile that they may run. */
  readonly isRenewed: () => boolean
}

/** Ends agents of a gateway that did not say in time that they may go on, and what they started. */
export async function endGuarded({ markers, graceMs }: Guarded, { held, clock, isRenewed }: Ending): Promise<void> {
  const agents = held.filter(({ marker }) => markers.has(marker))
  for (const agent of agents) agent.closeInput()
  const started = identities(markers)
  const signal = (name: NodeJS.Signals, processes: readonly Identity[]): void => {
    for (const agent of agents) agent.signal(name)
    for (const process of processes) send(process, name)
  }
  signal('SIGTERM', started)
  await new Promise<void>((resolve) => void clock.after(graceMs, resolve))
  // A gateway that is back may have started the next agent of a session: only the earlier ones are ended then.
  signal('SIGKILL', isRenewed() ? started : [...started, ...identities(markers)])
}

interface Identity {
  readonly pid: number
  readonly startTime: string
}

const identities = (markers: ReadonlySet<string>): readonly Identity[] =>
  markedPids(markers).map((pid) => ({ pid, startTime: startTimeOf(pid) }))

function send({ pid, startTime }: Identity, name: NodeJS.Signals): void {
  try {
    if (startTime !== '' && startTimeOf(pid) === startTime) process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
