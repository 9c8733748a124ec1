import type { Clock } from '@agentproto/contracts'
import type { Guarded } from './guard.js'
import type { HeldAgent } from './held-agent.js'
import { pidsBelow, startTimeOf } from './process-identity.js'

interface Ending {
  readonly held: readonly HeldAgent[]
  readonly clock: Clock
  /** Whether a gateway has said meanwhile that they may run. */
  readonly isRenewed: () => boolean
  /** Of the gateway that controls, which an agent may have started: it answers for other agents as well. */
  readonly gatewayPid: () => number | undefined
}

/** Ends agents of a gateway that did not say in time that they may go on, and what they started. */
export async function endGuarded({ markers, graceMs }: Guarded, ending: Ending): Promise<void> {
  const { held, clock, isRenewed } = ending
  const agents = held.filter(({ marker }) => markers.has(marker))
  for (const agent of agents) agent.closeInput()
  const started = identities(markers, ending)
  const signal = (name: NodeJS.Signals, processes: readonly Identity[]): void => {
    for (const agent of agents) agent.signal(name)
    for (const process of processes) send(process, name)
  }
  signal('SIGTERM', started)
  await new Promise<void>((resolve) => void clock.after(graceMs, resolve))
  // A gateway that is back may have started the next agent of a session: only the earlier ones are ended then.
  signal('SIGKILL', isRenewed() ? started : [...started, ...identities(markers, ending)])
}

interface Identity {
  readonly pid: number
  readonly startTime: string
}

const identities = (markers: ReadonlySet<string>, { gatewayPid }: Ending): readonly Identity[] =>
  pidsBelow(markers)
    .filter((pid) => pid !== gatewayPid())
    .map((pid) => ({ pid, startTime: startTimeOf(pid) }))

function send({ pid, startTime }: Identity, name: NodeJS.Signals): void {
  try {
    if (startTime !== '' && startTimeOf(pid) === startTime) process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
