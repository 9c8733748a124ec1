import type { Host } from './host-responses.js'

/** The hosts that work as one fleet. */
export interface HostService {
  /** This one and all others, by name; without a fleet only this one. One that is lost is listed until it is removed. */
  list(): Promise<readonly Host[]>
}
