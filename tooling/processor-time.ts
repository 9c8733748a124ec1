/** Milliseconds of processor time that synchronous work takes: on a busy machine as long as on an idle one. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
