// Some ways of the same thing by turns, so that all meet the same machine.
import { median, timeEach } from './measure.mjs'

/**
 * Of two ways.
 * @param each prompts of one before it is the turn of the next
 * @param cpu seconds of the processors, of each
 * @returns p50 of each, what the second takes more than the first, and what each prompt takes of the processors; in milliseconds
 */
export async function byTurns(both, { prompts, warmUp, each = ROUND, cpu = () => [] }) {
  const {
    ms: [firstMs, secondMs],
    cpuMs,
  } = await allByTurns(both, { prompts, warmUp, each, cpu })
  return { firstMs, secondMs, beyondMs: secondMs - firstMs, cpuMs }
}

/** @returns p50 of each, and what each prompt takes of the processors; in milliseconds */
export async function allByTurns(ways, { prompts, warmUp, each = ROUND, cpu = () => [] }) {
  const times = ways.map(() => [])
  const round = async (n) => {
    for (const [at, way] of ways.entries()) times[at].push(...(await timeEach(n, 0, way)))
  }
  await round(warmUp)
  for (const all of times) all.length = 0
  const before = cpu()
  for (let done = 0; done < prompts; done += each) await round(each)
  const cpuMs = cpu().map((seconds, at) => ((seconds - before[at]) * 1_000) / times[0].length)
  return { ms: times.map(median), cpuMs }
}

/** So many prompts in a row make the turns of a way comparable with those of the other. */
const ROUND = 100
