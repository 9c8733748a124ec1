import { isAgentprotoError } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { Finding } from './finding.js'

/** Calls between hosts expire after 30 s. */
const MAX_CLOCK_MS = 10_000

/** Whether a gateway of this home could join its fleet now: the files, the servers, JetStream and the rights. */
export async function checkCluster({ root: home, config }: HomeLayout): Promise<Finding> {
  const { examineFleet } = await import('@agentproto/runtime')
  try {
    const found = await examineFleet({ home })
    if (found === undefined) return { verdict: 'ok', detail: `this host belongs to no fleet, as far as ${config} says` }
    const { host, version, servers, replicas, roundTripMs, clockAheadMs } = found
    const detail = `${host} at nats-server ${version}, ${servers} server${servers === 1 ? '' : 's'}, ${replicas} replica${replicas === 1 ? '' : 's'}, ${roundTripMs} ms`
    if (Math.abs(clockAheadMs) <= MAX_CLOCK_MS) return { verdict: 'ok', detail }
    const seconds = Math.round(Math.abs(clockAheadMs) / 1_000)
    const difference = `the clock of this machine is at least ${seconds} s ${clockAheadMs > 0 ? 'ahead' : 'behind'}`
    return { verdict: 'warn', detail: `${detail}; ${difference}`, hint: 'Set the clock: calls between hosts expire' }
  } catch (thrown) {
    if (!isAgentprotoError(thrown)) throw thrown
    return { verdict: 'fail', detail: thrown.message, hint: thrown.parts.hint ?? 'See docs/fleet.md' }
  }
}
