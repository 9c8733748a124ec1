// `agentproto serve` until `/health` answers, in a home of its own.
import { startDaemon } from './gateway.mjs'
import { median } from './measure.mjs'
import { ms, row } from './table.mjs'

export async function start({ home, cwd, starts }) {
  const times = []
  for (let i = 0; i < starts; i += 1) {
    const { startMs, stop } = await startDaemon(`${home}-${i}`, cwd)
    times.push(startMs)
    await stop()
  }
  return [row('gateway start to /health', median(times), { most: 350, unit: ms })]
}
