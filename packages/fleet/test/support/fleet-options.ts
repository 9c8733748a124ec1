import { systemClock } from '@agentproto/contracts'
import type { FleetOptions } from '../../src/fleet-options.ts'

/** Options for a server without accounts. Problems are collected where they are given. */
export const fleetOptions = (servers: readonly string[], more: Partial<FleetOptions> = {}): FleetOptions => ({
  servers,
  key: '/nonexistent',
  clock: systemClock,
  onProblem: () => {},
  ...more,
})
