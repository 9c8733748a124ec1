import { test } from 'vitest'
import type { ArmSubject, StartName, TurnName } from './subject.js'

/** Registers a test of a behaviour; it is skipped where the protocol has no way to show it. */
export function testOf(subject: ArmSubject, how: StartName | TurnName): typeof test {
  return subject.cannot?.includes(how) ? (test.skip as typeof test) : test
}
