import { defined, type Principal, settlesWithin, toAgentprotoError } from '@agentproto/contracts'
import { type FleetState, type HostService, type SpawnAgentRequest, visibleHosts } from '@agentproto/contracts/wire'
import { Answerer } from './calls/answerer.js'
import { type Cluster, openCluster } from './cluster/cluster.js'
import { CountedCaller } from './calls/counted-caller.js'
import { fleetHosts, OwnDetails } from './services/fleet-hosts.js'
import { FleetLog } from './log/fleet-log.js'
import { fleetIds } from './services/fleet-ids.js'
import { fleetServices } from './services/fleet-services.js'
import type { FleetServices } from './services/fleet-services-options.js'
import { fleetView } from './services/fleet-view.js'
import { readFleetKey } from './keys/fleet-key.js'
import { HostDirectory } from './directory/host-directory.js'
import { type LeaseTimes, runTimes } from './directory/lease.js'
import { LostHosts } from './lost-hosts.js'
import { LogPublisher } from './log/log-publisher.js'
import { openLogStream } from './log/log-stream.js'
import type { FleetFigures, OwnHost } from './own-host.js'
import type { SharedServices } from './calls/places.js'
import { OwnSessions } from './own-sessions.js'
import { placeSession } from './services/placement.js'
import { SessionDirectory } from './directory/session-directory.js'

/** The fleet as this host sees it, while it is one of its hosts. */
export interface JoinedFleet {
  readonly services: FleetServices
  readonly hosts: HostService
  readonly figures: FleetFigures
  readonly state: JoinedState
  /** Publishes what is left, for at most so many milliseconds, then leaves. */
  close(withinMs: number): Promise<void>
}

/** What a person wants to know of it. */
export type JoinedState = Pick<FleetState, 'nats' | 'clockAheadMs'>

/**
 * Joins the fleet: the directory of hosts and sessions, the calls of other hosts and the log of all.
 * @throws `cluster_unavailable` while NATS is away; `cluster_unsupported`, `host_name_in_use`, `path_invalid` and
 *   `invalid_request` for what only a person can change
 */
export async function joinFleet(options: OwnHost): Promise<JoinedFleet> {
  const key = await readFleetKey(options.key)
  const cluster = await openCluster(options)
  const opened: Opened = { cluster, fenced: 0 }
  try {
    return await join(options, opened, key)
  } catch (thrown) {
    await leave(opened)
    throw thrown
  }
}

/** What is open so far. */
interface Opened {
  readonly cluster: Cluster
  /** Sessions that another host has taken over. */
  fenced: number
  directory?: HostDirectory
  sessions?: SessionDirectory
  log?: FleetLog
  publisher?: LogPublisher
  calls?: CountedCaller
  answerer?: Answerer
  reported?: OwnSessions
  lost?: LostHosts
}

async function join(options: OwnHost, opened: Opened, key: Uint8Array): Promise<JoinedFleet> {
  const { own, forOthers, host, clock, replay, endOf, onProblem } = options
  const { cluster } = opened
  await openLogStream({ cluster, onProblem })
  const details = await OwnDetails.read({ ...options, lag: () => opened.publisher?.lag ?? 0 })
  const describe = details.forHeartbeat
  const directory = (opened.directory = await HostDirectory.join(cluster, { ...options, describe }))
  const sessions = (opened.sessions = await openSessions(options, opened, directory))
  const log = (opened.log = new FleetLog({ cluster, clock, onProblem }))
  const shared = { nats: cluster.nats, host, key, clock, maxPayload: cluster.maxPayload }
  const isReachable = (name: string): boolean => directory.isReachable(name)
  const calls = (opened.calls = new CountedCaller({ ...shared, isReachable }))
  opened.answerer = await Answerer.open({ ...shared, own: forOthers, mayRun: (id) => sessions.mayRun(id), onProblem })
  const publisher = followOwn(options, opened, { directory, sessions, log, details })
  const hosts = fleetHosts({ directory, own: details.now })
  const view = fleetView(directory, sessions)
  const ids = fleetIds({ directory: sessions, onProblem })
  const place = async (request: SpawnAgentRequest, by: Principal): Promise<string> =>
    request.on === undefined ? host : placeSession(request, visibleHosts(await hosts.list(), by), by).name
  return {
    services: fleetServices({ host, own, view, calls, clock, log, replay, endOf, ids, place }),
    hosts,
    get figures() {
      const isJoined = directory.term !== undefined
      return { lag: publisher.lag, isJoined, hosts: counted(directory), forwarded: calls.count, fenced: opened.fenced }
    },
    get state() {
      return { nats: natsOf(cluster), ...defined({ clockAheadMs: directory.clocks.ownAheadMs }) }
    },
    async close(withinMs) {
      await settlesWithin(withinMs, finish(opened), clock)
      await leave(opened)
    },
  }
}

function counted(directory: HostDirectory): FleetFigures['hosts'] {
  const all = directory.hosts()
  const reachable = all.filter(({ isReachable }) => isReachable).length
  const stopped = all.filter(({ isReachable, hasLeft }) => hasLeft && !isReachable).length
  return { reachable, unreachable: all.length - reachable - stopped, stopped }
}

function natsOf({ nats, replicas }: Cluster): NonNullable<FleetState['nats']> {
  const { version = '', connect_urls: known = [] } = nats.info ?? {}
  return { server: nats.getServer(), version, servers: Math.max(1, known.length), replicas }
}

const openSessions = (options: OwnHost, opened: Opened, directory: HostDirectory): Promise<SessionDirectory> =>
  SessionDirectory.open({
    cluster: opened.cluster,
    hosts: directory,
    onProblem: options.onProblem,
    onFenced(id, owner) {
      opened.fenced += 1
      opened.reported?.fence(id)
      void giveUp(options, id, owner)
    },
    onSuspended: () => void suspend(options, directory.times),
    onReleased: () => release(options, directory),
  })

interface Directories {
  readonly directory: HostDirectory
  readonly sessions: SessionDirectory
  readonly log: FleetLog
  readonly details: OwnDetails
}

/** Reports the sessions of this host to the fleet, and takes over those of lost hosts. */
function followOwn(options: OwnHost, opened: Opened, { directory, sessions, log, details }: Directories): LogPublisher {
  const { own, moves, clock, onProblem } = options
  const { cluster } = opened
  const publisher = (opened.publisher = new LogPublisher({
    cluster,
    clock,
    epochOf: (id) => sessions.epochOf(id),
    mayWrite: (id) => sessions.mayWrite(id),
    onFenced: (id) => opened.reported?.fence(id),
    onProblem,
  }))
  const shared = { directory: sessions, publisher, log, moves, onProblem }
  const reported = (opened.reported = new OwnSessions({
    ...shared,
    host: directory.host,
    sessions: own.sessions,
    clock,
  }))
  // When the lease was lost in the meantime, sessions that were confirmed before must be read again: `onReleased` says when.
  void reported.confirmed.then(
    () => directory.term !== undefined && !sessions.isSuspended && release(options, directory),
  )
  directory.listen({ renewed: () => renew(options, directory) })
  opened.lost = new LostHosts({
    ...shared,
    hosts: directory,
    clock,
    own: details.now,
    has: (id) => isHere(own, id),
    onTaken: (id) => reported.release(id),
  })
  return publisher
}

/** Its agent must end here. @param owner Absent where it was deleted in the fleet */
async function giveUp({ moves, onProblem }: OwnHost, id: string, owner: string | undefined): Promise<void> {
  onProblem(`The session ${id} is the session of ${owner ?? 'no host'} now.`)
  if (owner === undefined) return
  await moves.giveUp(id, owner).catch((thrown: unknown) => onProblem(toAgentprotoError(thrown).message))
}

function release(options: OwnHost, directory: HostDirectory): void {
  options.moves.release()
  renew(options, directory)
}

/** Also where this host is frozen then, what it would end ends in time. */
const renew = ({ moves }: OwnHost, { times, leftMs }: HostDirectory): void => moves.renew(runTimes(times, leftMs))

/** Others may act for this host soon. */
async function suspend({ moves, onProblem }: OwnHost, { abandonedMs, heldMs }: LeaseTimes): Promise<void> {
  const { running } = await moves.suspend('its host is not one of its fleet now', abandonedMs - heldMs)
  if (running.length > 0) onProblem(`Agents could not be ended in time, and may run twice: ${running.join(', ')}`)
}

const isHere = async ({ sessions }: SharedServices, id: string): Promise<boolean> =>
  sessions.get(id).then(
    ({ movedTo }) => movedTo === undefined,
    () => false,
  )

/** The sessions of this host have ended: their last events and records reach the fleet. */
async function finish({ reported, publisher }: Opened): Promise<void> {
  await reported?.done
  await publisher?.drain(Number.MAX_SAFE_INTEGER)
}

/** In the order in which each needs the next. Others learn last that this host has left. */
async function leave(opened: Opened): Promise<void> {
  const { cluster, directory, sessions, log, publisher, calls, answerer, reported, lost } = opened
  const isIdle = lost?.close()
  answerer?.close()
  calls?.close()
  reported?.close()
  await publisher?.close()
  log?.close()
  sessions?.close()
  await isIdle
  await directory?.close()
  await cluster.close()
}
