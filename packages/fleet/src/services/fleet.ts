import type { FleetServicesOptions } from './fleet-services-options.js'
import type { OwnerCalls } from './owner-calls.js'
import type { Owners } from './owners.js'

/** What the services of a fleet share. */
export interface Fleet extends FleetServicesOptions {
  readonly owners: Owners
  /** Calls of the methods that the owner of a session answers. */
  readonly owner: OwnerCalls
}
