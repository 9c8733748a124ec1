// The contract of `@agentproto/fleet`: every export is named here.
export type { FleetOptions } from './fleet-options.js'
export type { HostRecord, SessionRecord } from './directory-records.js'
export { openCluster } from './cluster.js'
export type { Cluster } from './cluster.js'
