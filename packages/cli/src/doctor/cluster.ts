import { isAgentprotoError } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { daemonProcess } from '../daemon/daemon-process.js'
import type { Finding } from './finding.js'
import { clockText, joinedFleet, MAX_CLOCK_MS, natsText, NTP } from './joined-fleet.js'

/** The fleet of the running gateway, also where only its command line names it; without one, the fleet that it could join. */
export async function checkFleet(context: CliContext, home: HomeLayout): Promise<Finding> {
  if ((await daemonProcess(home)) === undefined && !context.env['AGENTPROTO_URL']) return checkCluster(home)
  const client = await connect({ ...context, autoStart: false })
  const joined = joinedFleet(await client.gateway(), await client.hosts())
  if (joined !== undefined) return joined
  const configured = await examined(home)
  if (configured === undefined) return { verdict: 'ok', detail: 'the gateway belongs to no fleet' }
  return {
    verdict: 'warn',
    detail: `${home.config} names a fleet, but the gateway was started without it (${configured.detail})`,
    hint: 'Restart it: agentproto restart',
  }
}

/** Whether a gateway of this home could join its fleet now: the files, the servers, JetStream and the rights. */
export async function checkCluster(home: HomeLayout): Promise<Finding> {
  const detail = `this host belongs to no fleet, as far as ${home.config} says`
  return (await examined(home)) ?? { verdict: 'ok', detail }
}

/** @returns undefined without a fleet */
async function examined({ root: home }: HomeLayout): Promise<Finding | undefined> {
  const { examineFleet } = await import('@agentproto/runtime')
  try {
    const found = await examineFleet({ home })
    if (found === undefined) return undefined
    const { host, roundTripMs, clockAheadMs } = found
    const detail = `${host} at ${natsText(found)}, ${roundTripMs} ms`
    if (Math.abs(clockAheadMs) <= MAX_CLOCK_MS) return { verdict: 'ok', detail }
    const difference = clockText('the clock of this machine', clockAheadMs)
    return { verdict: 'warn', detail: `${detail}; ${difference} at least`, hint: NTP }
  } catch (thrown) {
    if (!isAgentprotoError(thrown)) throw thrown
    return { verdict: 'fail', detail: thrown.message, hint: thrown.parts.hint ?? 'See docs/fleet.md' }
  }
}
