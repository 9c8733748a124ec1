// The contract of `@agentproto/fleet`: every export is named here. Its types need none of NATS, so that an embedder's do not.
export { openFleet } from './open-fleet.js'
export type { Fleet } from './open-fleet.js'
export type { FleetOptions } from './fleet-options.js'
export type { FleetFigures, OwnHost } from './own-host.js'
export type { SharedServices } from './calls/places.js'
export { examineCluster } from './cluster/examine-cluster.js'
export type { ClusterFindings } from './cluster/examine-cluster.js'
export { createFleetKey, readFleetKey } from './keys/fleet-key.js'
