import { statSync, utimesSync } from 'node:fs'
import { pause, systemClock } from '@agentproto/contracts'

// A lock whose owner has its pid in another namespace or was started in another boot, as in another container with the same home:
// its pid says nothing here. So an owner touches its lock, and one that was not touched for a while is that of a dead owner. The
// times are those of the machine: files have no others.

const TOUCH_MS = 5_000
/** Three touches that did not come. */
const ABANDONED_MS = 15_000
const POLL_MS = 200

/** Touches the lock for as long as it is ours. */
export function keepFresh(path: string, isHeld: () => boolean): { stop(): void } {
  let timer = later()
  function later(): { cancel(): void } {
    return systemClock.after(TOUCH_MS, () => {
      if (isHeld()) touch(path)
      timer = later()
    })
  }
  return { stop: () => timer.cancel() }
}

/** Whether it was touched lately. A time that is far ahead is of another clock, and says nothing. */
export function isFresh(path: string): boolean {
  const touched = touchedAt(path)
  return touched !== undefined && Math.abs(systemClock.now() - touched) < ABANDONED_MS
}

/** Waits until it is touched, or was not for long enough. @returns whether its owner lives */
export async function isTouchedAgain(path: string): Promise<boolean> {
  const before = touchedAt(path)
  while (isFresh(path)) {
    if (touchedAt(path) !== before) return true
    await pause(systemClock, POLL_MS)
  }
  return false
}

function touchedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

function touch(path: string): void {
  const now = systemClock.now() / 1_000
  try {
    utimesSync(path, now, now)
  } catch {
    // It was removed, or the disk does not take it: others of this machine still see the owner by its pid.
  }
}
