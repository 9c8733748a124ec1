import { closeSync, openSync, readSync } from 'node:fs'

/**
 * The longest piece of work of the event loop while something runs, in milliseconds of its own thread's time: what other
 * threads and processes take does not count. Linux only.
 */
export async function longestWork(run: () => Promise<unknown>): Promise<number> {
  const file = openSync('/proc/thread-self/schedstat', 'r')
  let longest = 0
  let before = threadTime(file)
  const timer = setInterval(() => {
    const now = threadTime(file)
    longest = Math.max(longest, now - before)
    before = now
  }, 1)
  try {
    await run()
    return Math.max(longest, threadTime(file) - before)
  } finally {
    clearInterval(timer)
    closeSync(file)
  }
}

/** The first number is nanoseconds on a processor. */
function threadTime(file: number): number {
  const buffer = Buffer.alloc(64)
  const length = readSync(file, buffer, 0, buffer.length, 0)
  return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6
}
