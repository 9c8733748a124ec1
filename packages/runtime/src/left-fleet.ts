import { existsSync } from 'node:fs'
import { everySession, type Session } from '@agentproto/contracts'
import type { SessionMoves } from '@agentproto/contracts/agent'
import type { SessionService } from '@agentproto/contracts/wire'
import type { HomeKeeper } from '@agentproto/keeper'
import type { Settings } from './settings.js'

/** How long agents may take to end, in milliseconds. */
const END_MS = 10_000

/**
 * Why sessions that may move do not run here: their home was one of a fleet, of which this gateway knows nothing. Another host may
 * have taken them, or take them at any time. Undefined where no fleet had the home.
 */
export const leftFleet = ({ fleet, inMemory, layout }: Settings): string | undefined =>
  fleet === undefined && !inMemory && existsSync(layout.fleetRuns)
    ? `its home was in a fleet (${layout.fleetRuns}), and the gateway was started without it`
    : undefined

interface Left {
  readonly sessions: Pick<SessionService, 'list'>
  readonly moves: Pick<SessionMoves, 'suspend'>
  readonly keeper: Pick<HomeKeeper, 'guard'> | undefined
  readonly onProblem: (problem: string) => void
}

/** Ends the agents of such sessions that went on with this gateway, and says what can be done. */
export async function endMovable(why: string, { sessions, moves, keeper, onProblem }: Left): Promise<void> {
  const { running } = await moves.suspend(why, END_MS)
  // The guard of the gateway before this one ends those that could not be ended here. Without one that runs it is not needed.
  if (running.length === 0) await keeper?.guard({ markers: [], ms: 0, graceMs: 0 }).catch(() => undefined)
  let held = 0
  for await (const session of everySession(sessions)) if (isHeld(session)) held += 1
  if (held === 0) return
  onProblem(
    `${held} session(s) that may move to another host do not run here: ${why}. Another host may have them. Start the gateway with its ` +
      'fleet, or fork such a session to go on with it. If no other host of the fleet will run again, remove that file and restart.',
  )
}

const isHeld = ({ onHostLoss, movedTo, state }: Session): boolean =>
  onHostLoss === 'move' && movedTo === undefined && state !== 'failed' && state !== 'ended'
