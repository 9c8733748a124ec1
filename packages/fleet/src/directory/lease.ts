import { AgentprotoError } from '@agentproto/contracts'
import type { RunTimes } from '@agentproto/contracts/agent'

/**
 * The three moments of a host that is silent, each counted from its last heartbeat. The election of a new leader of a
 * stream lasts up to 9 s in NATS, in which no heartbeat is stored: by default a host keeps its sessions through one.
 */
export interface LeaseTimes {
  /** It sends heartbeats this often, in milliseconds. */
  readonly heartbeatMs: number
  /** Others show it as unreachable. */
  readonly silentMs: number
  /** It stops believing that it owns its sessions, counted from when it sent the heartbeat. */
  readonly heldMs: number
  /** Others may act in its place, counted from when they received the heartbeat. Until then it ends its agents. */
  readonly abandonedMs: number
  /** The server forgets the heartbeat. Only cleans up: nothing is decided by the server's clock. */
  readonly forgottenMs: number
}

/**
 * How long agents may run that this host would end when it loses its lease: a host that is frozen cannot, so that they are ended for
 * it. It has half of the time for that itself, and nothing is left of them a quarter of it before others may act.
 * @param leftMs Of the lease
 */
export function runTimes({ heldMs, abandonedMs }: LeaseTimes, leftMs: number): RunTimes {
  const spareMs = abandonedMs - heldMs
  return { forMs: leftMs + Math.floor(spareMs / 2), graceMs: Math.floor(spareMs / 4) }
}

const DEFAULT_LEASE_MS = 10_000
const MIN_LEASE_MS = 100
const MAX_LEASE_MS = 3_600_000

/** @param leaseMs As in `FleetOptions`. @throws `invalid_request` */
export function leaseOf(leaseMs: number = DEFAULT_LEASE_MS): LeaseTimes {
  if (!Number.isInteger(leaseMs) || leaseMs < MIN_LEASE_MS || leaseMs > MAX_LEASE_MS)
    throw new AgentprotoError('invalid_request', 'The lease of a host is invalid', {
      expected: `${MIN_LEASE_MS} to ${MAX_LEASE_MS} milliseconds`,
      given: leaseMs,
    })
  return {
    heartbeatMs: Math.floor(leaseMs / 3),
    silentMs: leaseMs,
    heldMs: 2 * leaseMs,
    abandonedMs: 3 * leaseMs,
    forgottenMs: 4 * leaseMs,
  }
}
