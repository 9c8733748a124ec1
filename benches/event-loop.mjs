// How long the event loop is held, only while something of ours runs.
import { closeSync, openSync, readSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * `pause` is the time between two turns of the loop, as clients meet it: on a busy machine also while other processes run.
 * `work` is the longest time of the loop's own thread on a processor between two turns; known on Linux.
 */
export function watchEventLoop() {
  let longest = { pause: 0, work: 0 }
  return {
    async during(run) {
      // A new one each time: it would count the time between two uses.
      const delay = monitorEventLoopDelay({ resolution: 1 })
      const work = watchThread()
      delay.enable()
      const result = await run()
      delay.disable()
      longest = { pause: Math.max(longest.pause, delay.max / 1e6), work: Math.max(longest.work, work.end()) }
      return result
    },
    longest() {
      const found = longest
      longest = { pause: 0, work: 0 }
      return found
    },
  }
}

function watchThread() {
  if (process.platform !== 'linux') return { end: () => 0 }
  const file = openSync('/proc/thread-self/schedstat', 'r')
  let longest = 0
  let before = threadTime(file)
  const look = () => {
    const now = threadTime(file)
    longest = Math.max(longest, now - before)
    before = now
  }
  const timer = setInterval(look, 1)
  return {
    end() {
      look()
      clearInterval(timer)
      closeSync(file)
      return longest
    },
  }
}

/** Milliseconds on a processor. */
function threadTime(file) {
  const buffer = Buffer.alloc(64)
  const length = readSync(file, buffer, 0, buffer.length, 0)
  return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6
}
