import { describe } from 'vitest'
import { testAdoption } from './adoption.js'
import { testEnding } from './ending.js'
import { testFloods } from './floods.js'
import { turnsOf } from './opened.js'
import { testRequests } from './requests.js'
import { casesOf } from './shared-cases.js'
import { testStarting } from './starting.js'
import type { ArmSubject } from './subject.js'
import { testTurns } from './turns.js'

/**
 * Registers the conformance suite of protocol arms (AIP-45) with vitest: connecting within its limit and on
 * abort, one `turn-end` a turn, cancelling within a second, closing with nothing left, ordered events and none after
 * the end, classified errors, the environment exactly as given, garbage tolerated, floods bounded, and with a keeper an agent
 * that goes on with the next host.
 * @param name of the arm, or of the adapter, in the tests' titles
 */
export function testArm(name: string, subject: ArmSubject): void {
  describe(`the arm of ${name}`, () => {
    const on = turnsOf(subject)
    const onCase = casesOf(subject)
    testStarting(subject, on)
    testTurns(subject, on, onCase)
    testRequests(subject, on, onCase)
    testFloods(on)
    testEnding(subject, on, onCase)
    testAdoption(subject)
  })
}
