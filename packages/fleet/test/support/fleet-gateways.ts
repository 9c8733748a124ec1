import { systemClock } from '@agentproto/contracts'
import { onTestFinished } from 'vitest'
import {
  sessionReplay,
  type SessionRegistry,
  type SessionRegistryOptions,
} from '../../../session-registry/src/index.ts'
import { memoryRegistry } from '../../../session-registry/test/fixtures/test-registry.ts'
import { Answerer } from '../../src/calls/answerer.ts'
import { Caller } from '../../src/calls/caller.ts'
import { openCluster } from '../../src/cluster/cluster.ts'
import { FleetLog } from '../../src/log/fleet-log.ts'
import { fleetServices } from '../../src/services/fleet-services.ts'
import type { FleetServices, FleetServicesOptions, FleetView } from '../../src/services/fleet-services-options.ts'
import { fleetView } from '../../src/services/fleet-view.ts'
import { HostDirectory } from '../../src/directory/host-directory.ts'
import { LogPublisher } from '../../src/log/log-publisher.ts'
import { openLogStream } from '../../src/log/log-stream.ts'
import { SessionDirectory } from '../../src/directory/session-directory.ts'
import { fleetOptions } from './fleet-options.ts'
import type { NatsServer } from './nats-servers.ts'
import { KEY, servicesOf } from './two-hosts.ts'

/** A gateway of a fleet without its surfaces: registry, directory, log, calls and services. */
export interface TestGateway {
  readonly name: string
  readonly registry: SessionRegistry
  readonly services: FleetServices
  readonly view: FleetView
  readonly publisher: LogPublisher
  readonly log: FleetLog
  readonly sessions: SessionDirectory
  readonly problems: string[]
  /** As after `kill -9`: nothing of it reaches the others any more, and nothing is said. */
  crash(): Promise<void>
}

type RegistryOptions = Partial<SessionRegistryOptions> & Pick<SessionRegistryOptions, 'startAgent'>

/** Starts a gateway that ends with the test. */
export async function startGateway(
  { url }: Pick<NatsServer, 'url'>,
  host: string,
  { place, endOf, ...registryOptions }: RegistryOptions & Pick<FleetServicesOptions, 'place' | 'endOf'>,
): Promise<TestGateway> {
  const { registry } = await memoryRegistry({ clock: systemClock, hostId: host, ...registryOptions })
  const problems: string[] = []
  const onProblem = (problem: string): void => void problems.push(problem)
  const options = fleetOptions([url], { host, leaseMs: 2_000, onProblem })
  const cluster = await openCluster(options)
  const describe = () => ({
    version: '1',
    labels: {},
    liveSessions: 0,
    freeSessions: 9,
    adapters: [],
    workspaces: [],
    lag: 0,
  })
  const hosts = await HostDirectory.join(cluster, { ...options, describe })
  const none = (): void => undefined
  const seams = { onFenced: none, onSuspended: none, onReleased: none }
  const sessions = await SessionDirectory.open({ cluster, hosts, onProblem, ...seams })
  await openLogStream({ cluster, onProblem })
  const clock = systemClock
  const publisher = new LogPublisher({
    cluster,
    clock,
    epochOf: (id) => (sessions.get(id)?.owner === host ? sessions.get(id)?.epoch : undefined),
    mayWrite: (id) => sessions.mayWrite(id),
    onFenced: none,
    onProblem,
  })
  const log = new FleetLog({ cluster, clock, onProblem })
  const view = fleetView(hosts, sessions)
  const shared = { nats: cluster.nats, host, key: KEY, clock, maxPayload: cluster.maxPayload }
  const own = servicesOf(registry)
  const answerer = await Answerer.open({ ...shared, own, onProblem })
  const calls = new Caller({ ...shared, isReachable: view.isReachable })
  const services = fleetServices({
    host,
    own,
    view,
    calls,
    clock,
    log,
    replay: sessionReplay({ clock }),
    endOf,
    ...(place && { place }),
  })
  // It ends with its gateway.
  void keepAll(registry, sessions, publisher).catch(none)
  let isCrashed = false
  async function crash(): Promise<void> {
    if (isCrashed) return
    isCrashed = true
    await cluster.close()
  }
  onTestFinished(async () => {
    await registry.close()
    log.close()
    await publisher.close()
    calls.close()
    answerer.close()
    sessions.close()
    await hosts.close()
    await crash()
  })
  return { name: host, registry, services, view, publisher, log, sessions, problems, crash }
}

/** The directory has each session as the registry has it, and its log is published. */
async function keepAll(registry: SessionRegistry, sessions: SessionDirectory, publisher: LogPublisher): Promise<void> {
  const changes = registry.watch()
  const published = new Set<string>()
  for (let batch = await changes.next(); batch !== undefined; batch = await changes.next()) {
    for (const change of batch) {
      if (change.type === 'forgotten') await sessions.forget(change.id).catch(() => undefined)
      else if (published.has(change.session.id)) sessions.keep(change.session)
      else {
        const { id } = change.session
        published.add(id)
        await sessions.claim(change.session)
        publisher.publish(id, (after) => registry.follow(id, after))
      }
    }
  }
}
