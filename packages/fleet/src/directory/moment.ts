import type { Clock } from '@agentproto/contracts'

/** Time for leases. */
export interface LeaseClock extends Clock {
  /** Milliseconds of a clock that no one can set. */
  monotonic(): number
}

/**
 * When something happened, by both clocks. Neither is enough: the monotonic clock of Linux stands still while a laptop
 * sleeps, and the wall clock can be set back.
 */
export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

export const momentOf = (clock: LeaseClock): Moment => ({ wall: clock.now(), monotonic: clock.monotonic() })

/** The longest time that can have passed, in milliseconds: for what must have ended in time. */
export const atMostSince = ({ wall, monotonic }: Moment, clock: LeaseClock): number =>
  Math.max(clock.now() - wall, clock.monotonic() - monotonic)

/** The shortest time that can have passed, in milliseconds: for what must not begin too early. */
export const atLeastSince = ({ wall, monotonic }: Moment, clock: LeaseClock): number =>
  Math.max(0, Math.min(clock.now() - wall, clock.monotonic() - monotonic))
