// Two ways of the same thing by turns, so that both meet the same machine.
import { median, timeEach } from './measure.mjs'

/**
 * @param cpu seconds of the processors, of each
 * @returns p50 of each, what the second takes more than the first, and what each prompt takes of the processors; in milliseconds
 */
export async function byTurns([first, second], { prompts, warmUp, cpu = () => [] }) {
  const times = [[], []]
  const round = async (n) => {
    times[0].push(...(await timeEach(n, 0, first)))
    times[1].push(...(await timeEach(n, 0, second)))
  }
  await round(warmUp)
  for (const each of times) each.length = 0
  const before = cpu()
  for (let done = 0; done < prompts; done += ROUND) await round(ROUND)
  const cpuMs = cpu().map((seconds, at) => ((seconds - before[at]) * 1_000) / times[0].length)
  const [firstMs, secondMs] = times.map(median)
  return { firstMs, secondMs, beyondMs: secondMs - firstMs, cpuMs }
}

/** Prompts of one before it is the turn of the other. */
const ROUND = 100
