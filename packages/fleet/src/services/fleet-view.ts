import type { FleetView } from './fleet-services-options.js'
import type { HostDirectory } from '../directory/host-directory.js'
import type { SessionDirectory } from '../directory/session-directory.js'

/** What the services of a fleet know of it, from the watched copies of its directories. */
export const fleetView = (hosts: HostDirectory, sessions: SessionDirectory): FleetView => ({
  session: (id) => sessions.get(id),
  sessions: () => sessions.all(),
  // A host that left long ago may still have sessions: it is not left out without a word.
  hosts: () => [...new Set([...hosts.hosts().map(({ record }) => record.host), ...sessions.owners()])].toSorted(),
  isReachable: (host) => hosts.isReachable(host),
  watch: () => sessions.changes(),
})
