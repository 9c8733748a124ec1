import { closeSync, openSync, readSync } from 'node:fs'

/**
 * The longest piece of work of the event loop while something runs, as a part of all its work: 1 is work in one piece. It
 * is a part, and of the thread's own time, so that it is the same on a slow or a busy machine. Linux only.
 */
export async function longestPiece(run: () => Promise<unknown>): Promise<number> {
  const file = openSync('/proc/thread-self/schedstat', 'r')
  let longest = 0
  const begun = threadTime(file)
  let before = begun
  const timer = setInterval(() => {
    const now = threadTime(file)
    longest = Math.max(longest, now - before)
    before = now
  }, 1)
  try {
    await run()
    const ended = threadTime(file)
    return Math.max(longest, ended - before) / (ended - begun)
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
