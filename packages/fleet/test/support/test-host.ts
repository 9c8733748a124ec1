import { type Clock, systemClock, type Timer } from '@agentproto/contracts'
import { onTestFinished } from 'vitest'
import { openCluster } from '../../src/cluster/cluster.ts'
import type { Cluster } from '../../src/cluster/cluster.ts'
import type { FleetOptions } from '../../src/fleet-options.ts'
import { HostDirectory } from '../../src/directory/host-directory.ts'
import { SessionDirectory } from '../../src/directory/session-directory.ts'
import { fleetOptions } from './fleet-options.ts'

export { testSession } from '../../../session-registry/test/fixtures/test-session.ts'

/** A gateway as the directory sees it. */
export interface TestHost {
  readonly cluster: Cluster
  readonly hosts: HostDirectory
  readonly sessions: SessionDirectory
  readonly fenced: { readonly id: string; readonly owner: string | undefined }[]
  readonly suspended: string[][]
  readonly released: string[]
  readonly problems: string[]
  close(): Promise<void>
}

export const DETAILS = {
  version: '1.0.0',
  labels: {},
  liveSessions: 0,
  freeSessions: 10,
  adapters: ['demo'],
  workspaces: ['main'],
  lag: 0,
}

/** It leaves with the test. */
export async function joinHost(
  host: string,
  servers: readonly string[],
  more: Partial<FleetOptions> = {},
): Promise<TestHost> {
  const problems: string[] = []
  const options = fleetOptions(servers, {
    host,
    leaseMs: 600,
    onProblem: (problem) => void problems.push(problem),
    ...more,
  })
  const cluster = await openCluster(options)
  onTestFinished(() => cluster.close())
  const hosts = await HostDirectory.join(cluster, { ...options, describe: () => DETAILS })
  onTestFinished(() => hosts.close())
  const fenced: TestHost['fenced'] = []
  const suspended: string[][] = []
  const released: string[] = []
  const sessions = await SessionDirectory.open({
    cluster,
    hosts,
    onProblem: options.onProblem,
    onFenced: (id, owner) => void fenced.push({ id, owner }),
    onSuspended: (ids) => void suspended.push([...ids]),
    onReleased: () => void released.push(hosts.term ?? 'none'),
  })
  onTestFinished(() => sessions.close())
  return {
    cluster,
    hosts,
    sessions,
    fenced,
    suspended,
    released,
    problems,
    async close() {
      sessions.close()
      await hosts.close()
      await cluster.close()
    },
  }
}

/** The time of one host. While it is frozen its timers wait, and it asks nothing. */
export class FreezableClock implements Clock {
  #frozen = false
  #jumpedMs = 0
  readonly #late = new Set<() => void>()

  now(): number {
    return systemClock.now() + this.#jumpedMs
  }

  readonly monotonic = (): number => performance.now() + this.#jumpedMs

  after(ms: number, run: () => void): Timer {
    const late = (): void => {
      if (!this.#frozen) return run()
      this.#late.add(run)
    }
    const timer = systemClock.after(ms, late)
    return {
      cancel: () => {
        timer.cancel()
        this.#late.delete(run)
      },
    }
  }

  get isFrozen(): boolean {
    return this.#frozen
  }

  freeze(): void {
    this.#frozen = true
  }

  thaw(): void {
    this.#frozen = false
    const late = [...this.#late]
    this.#late.clear()
    for (const run of late) run()
  }

  /** The clocks go on, as after a sleep; timers do not. */
  jump(ms: number): void {
    this.#jumpedMs += ms
  }
}
