import type { Client } from '@agentproto/client'
import { isAgentprotoError } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { daemonProcess } from '../daemon/daemon-process.js'
import { guardsAgents } from '../daemon/keeper-state.js'
import { version } from '../version.js'
import type { Finding } from './finding.js'
import { clockText, joinedFleet, MAX_CLOCK_MS, natsText, NTP } from './joined-fleet.js'

/** The fleet of the running gateway, also where only its command line names it; without one, the fleet that it could join. */
export async function checkFleet(context: CliContext, home: HomeLayout): Promise<Finding> {
  if ((await daemonProcess(home)) === undefined && !context.env['AGENTPROTO_URL']) return checkCluster(home)
  try {
    return await ofGateway(await connect({ ...context, autoStart: false }), home)
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'forbidden') throw thrown
    return { verdict: 'skip', detail: 'the token does not allow to ask the gateway for it' }
  }
}

async function ofGateway(client: Client, home: HomeLayout): Promise<Finding> {
  const gateway = await client.gateway()
  const joined = joinedFleet(gateway, await client.hosts())
  if (joined !== undefined) return joined
  const configured = await examined(home)
  if (configured === undefined) return { verdict: 'ok', detail: 'the gateway belongs to no fleet' }
  // An older gateway does not say what it knows.
  if (gateway.version !== version()) return configured
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
async function examined(layout: HomeLayout): Promise<Finding | undefined> {
  const { examineFleet } = await import('@agentproto/runtime')
  try {
    const found = await examineFleet({ home: layout.root })
    if (found === undefined) return undefined
    const { host, roundTripMs, clockAheadMs } = found
    const detail = `${host} at ${natsText(found)}, ${roundTripMs} ms`
    if (Math.abs(clockAheadMs) <= MAX_CLOCK_MS) return await withKeeper(layout, { verdict: 'ok', detail })
    const difference = clockText('the clock of this machine', clockAheadMs)
    return { verdict: 'warn', detail: `${detail}; ${difference} at least`, hint: NTP }
  } catch (thrown) {
    if (!isAgentprotoError(thrown)) throw thrown
    return { verdict: 'fail', detail: thrown.message, hint: thrown.parts.hint ?? 'See docs/fleet.md' }
  }
}

/** What is wrong with the keeper itself is found by its own check. */
async function withKeeper(layout: HomeLayout, found: Finding): Promise<Finding> {
  if (found.verdict !== 'ok' || (await guardsAgents(layout).catch(() => true))) return found
  const cannot = 'the keeper was started by an earlier agentproto, and cannot end agents while the gateway is frozen'
  return { verdict: 'warn', detail: `${found.detail}; ${cannot}`, hint: 'It is replaced once it holds no agent' }
}
