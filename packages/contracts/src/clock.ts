/** Time and ids are injected through these interfaces, so that tests control them and never sleep. */

/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `run` once after `ms` milliseconds. Timers never keep the process alive. */
  after(ms: number, run: () => void): Timer
}

/** The longest delay of `setTimeout`, 24.8 days: a longer one fires at once. */
const MAX_DELAY_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    if (ms > MAX_DELAY_MS) return afterLong(ms, run)
    const timer = setTimeout(run, ms)
    // Browsers return a number, which has no `unref` and keeps no process alive.
    if (typeof timer === 'object') timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
}

/** In delays that `setTimeout` has. */
function afterLong(ms: number, run: () => void): Timer {
  let timer = systemClock.after(MAX_DELAY_MS, () => (timer = systemClock.after(ms - MAX_DELAY_MS, run)))
  return { cancel: () => timer.cancel() }
}

/**
 * Resolves after `ms` milliseconds, or at once when `signal` aborts; the caller checks the signal.
 * Keeps the process alive until then, as timers of a clock do not: a program that waits for nothing else would end, with exit code 13.
 */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const alive = setTimeout(() => undefined, MAX_DELAY_MS)
    const done = (): void => {
      clearTimeout(alive)
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.after(ms, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}

/** Whether work settles in time (milliseconds), with or without an error. */
export function settlesWithin(ms: number, work: Promise<unknown>, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => resolve(false))
    const settled = (): void => {
      timer.cancel()
      resolve(true)
    }
    work.then(settled, settled)
  })
}

/** Creates a unique id with the given prefix. */
export type NewId = (prefix: string) => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Not ordered by time: the first characters of ids of one minute differ, so a short prefix names a session. */
export const randomId: NewId = (prefix) => {
  const bytes = crypto.getRandomValues(new Uint8Array(14))
  return prefix + Array.from(bytes, (byte) => ALPHABET[byte & 31]).join('')
}
