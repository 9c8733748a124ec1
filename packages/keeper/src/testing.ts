import { ABSENCE_CASES } from './testing/cases-of-absence.js'
import { AGENT_CASES } from './testing/cases-of-agents.js'
import { FRAME_CASES } from './testing/cases-of-frames.js'
import { GUARD_CASES } from './testing/cases-of-guards.js'
import { KeeperWorld, SMALL } from './testing/keeper-subject.js'
import type { KeeperSubject } from './testing/keeper-subject.js'

export type { KeeperBounds, KeeperSubject, RunningKeeper } from './testing/keeper-subject.js'

/**
 * Registers the conformance suite of keepers: it speaks the wire of docs/keeper.md to the socket of any program that claims to
 * be one.
 * @param name of the keeper, in the tests' titles
 */
export function testKeeper(name: string, subject: KeeperSubject): void {
  for (const [title, run] of Object.entries({ ...FRAME_CASES, ...AGENT_CASES, ...ABSENCE_CASES, ...GUARD_CASES })) {
    subject.test(`${name}: ${title}`, async () => {
      const keeper = await subject.start(SMALL)
      const world = new KeeperWorld(keeper)
      try {
        await run(world)
      } finally {
        world.close()
        await keeper.destroy()
      }
    })
  }
}
