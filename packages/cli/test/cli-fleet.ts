import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { expect } from 'vitest'
import { type NatsServer, startNats } from '../../fleet/test/support/nats-servers.ts'
import { cli, folder, serve } from './cli-process.js'

/** The lease of each host, in milliseconds: a host that is away is lost after this. */
const LEASE_MS = 2_000

/** Gateways as processes, on one real NATS server. */
export interface CliFleet {
  /** Of the host `one`, which is asked. */
  readonly home: string
  readonly nats: NatsServer
  /** Starts a gateway, which ends with the test; again with the home that its host had. */
  join(host: string): Promise<CliHost>
}

export interface CliHost {
  readonly home: string
  /** As after a power failure: its agents end too. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export const startFleet = (...hosts: readonly string[]): Promise<CliFleet> => startFleetWith(LEASE_MS, ...hosts)

/** @param leaseMs Of each host */
export async function startFleetWith(leaseMs: number, ...hosts: readonly string[]): Promise<CliFleet> {
  const nats = await startNats()
  const key = joinPath(folder('key'), 'fleet.key')
  writeFileSync(key, randomBytes(32).toString('base64url'), { mode: 0o600 })
  const homes = new Map<string, string>()
  const join = async (host: string): Promise<CliHost> => {
    const home = homes.get(host) ?? folder(host)
    homes.set(host, home)
    const cluster = { servers: [nats.url], key, host, leaseMs }
    writeFileSync(joinPath(home, 'config.json'), JSON.stringify({ keeper: false, cluster }), { mode: 0o600 })
    const gateway = await serve(home)
    const end = (signal: 'SIGKILL' | 'SIGTERM') => async (): Promise<void> => {
      gateway.child.kill(signal)
      await gateway.ended
    }
    return { home, kill: end('SIGKILL'), stop: end('SIGTERM') }
  }
  for (const host of hosts) await join(host)
  const home = homes.get('one') ?? ''
  await expect.poll(() => reachable(home), { timeout: 30_000, interval: 200 }).toEqual(hosts.toSorted())
  return { home, nats, join }
}

async function reachable(home: string): Promise<unknown> {
  const { code, stdout } = await cli(['hosts', '--json'], { home })
  if (code !== 0) return []
  const { hosts } = JSON.parse(stdout) as { hosts: { name: string; reachable: boolean }[] }
  return hosts.flatMap(({ name, reachable: isReachable }) => (isReachable ? [name] : []))
}
