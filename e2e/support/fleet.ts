import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { launchNats } from '../../tooling/nats-servers.mjs'
import { type Daemon, startDaemon } from './daemon.js'
import { temporaryFolder } from './temporary-folder.js'

export interface FleetOptions {
  /** Whether agents outlive their gateways. Default false. */
  readonly keeper?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** After so long without a heartbeat a host is shown as unreachable, in milliseconds. */
  readonly leaseMs?: number
  /** Of each host, in the order of their names. */
  readonly labels?: readonly [Labels, Labels]
}

type Labels = Readonly<Record<string, string>>

/** Two gateways as processes of their own, on one real NATS server. */
export interface Fleet {
  /** Host `one`, which owns the sessions. */
  readonly owner: Daemon
  /** Host `two`, which is asked for them. */
  readonly other: Daemon
  readonly ownerHome: string
  /** Of host `two`. */
  readonly otherHome: string
  /** Starts the gateway of host `one` again. */
  readonly nextOwner: () => Promise<Daemon>
  /** The same of host `two`. */
  readonly nextOther: () => Promise<Daemon>
}

/** Resolves when each host hears from the other one. */
export async function startFleet({
  keeper = false,
  env = {},
  leaseMs,
  labels = [{}, {}],
}: FleetOptions = {}): Promise<Fleet> {
  const nats = await launchNats(1)
  onTestFinished(() => nats.stop())
  const key = join(temporaryFolder('fleet'), 'fleet.key')
  writeFileSync(key, randomBytes(32).toString('base64url'), { mode: 0o600 })
  const servers = nats.servers.map(({ url }) => url)
  const homeOf = (host: string, ofHost: Labels): string => {
    const home = temporaryFolder(host)
    mkdirSync(join(home, '.agentproto'), { mode: 0o700 })
    const cluster = { servers, key, host, labels: ofHost, leaseMs }
    writeFileSync(join(home, '.agentproto', 'config.json'), JSON.stringify({ cluster }), { mode: 0o600 })
    return home
  }
  const [ownerHome, otherHome] = [homeOf('one', labels[0]), homeOf('two', labels[1])]
  const start = (home: string): Promise<Daemon> =>
    startDaemon({ home, keeper, env: { AGENTPROTO_DEMO_HOME: join(home, 'demo'), ...env } })
  const [owner, other] = await Promise.all([ownerHome, otherHome].map(start))
  if (owner === undefined || other === undefined) throw new Error('a host is missing')
  for (const { url, token } of [owner, other]) await expect.poll(() => reachableAt(url, token)).toEqual(['one', 'two'])
  return {
    owner,
    other,
    ownerHome,
    otherHome,
    nextOwner: () => start(ownerHome),
    nextOther: () => start(otherHome),
  }
}

async function reachableAt(url: string, token: string): Promise<string[]> {
  const response = await fetch(`${url}/hosts`, { headers: { authorization: `Bearer ${token}` } })
  const { hosts } = (await response.json()) as { hosts: { name: string; reachable: boolean }[] }
  return hosts.flatMap(({ name, reachable }) => (reachable ? [name] : [])).toSorted()
}
