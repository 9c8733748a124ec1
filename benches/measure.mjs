// Time, percentiles, memory and processor time of a process.
import { readFileSync } from 'node:fs'

export const now = () => performance.now()

/** Runs `once` n times after a warm-up, one after the other; milliseconds each. */
export async function timeEach(n, warmup, once) {
  const times = []
  for (let i = -warmup; i < n; i += 1) {
    const began = now()
    await once(i)
    if (i >= 0) times.push(now() - began)
  }
  return times
}

const percentile = (values, p) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))]
export const median = (values) => percentile(values, 0.5)

/** Processor time that a process has used, in seconds, from the kernel: what it costs, however busy the machine is. */
export function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Resident memory of a process in MB, from the kernel. */
export function rss(pid) {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return match === null ? Number.NaN : Number(match[1]) / 1024
}

/** Memory of a process in MB, from the kernel, with its part of what it shares with others, such as the program file of Node. */
export function memoryShare(pid) {
  const match = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
  return match === null ? Number.NaN : Number(match[1]) / 1024
}

/** Watches the resident memory of a process; `stop` returns its peak. */
export function peakRss(pid) {
  let peak = rss(pid)
  const timer = setInterval(() => (peak = Math.max(peak, rss(pid))), 50)
  return {
    stop() {
      clearInterval(timer)
      return peak
    },
  }
}
