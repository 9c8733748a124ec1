import { expect, test } from 'vitest'
import { Pace } from '../src/lifecycle/pace.ts'

const ITEMS = 60

test('16 speed: however much work shares a pace, the event loop has its turns', async () => {
  const pace = new Pace()
  let [done, before, longest] = [0, 0, 0]
  const look = (): void => {
    longest = Math.max(longest, done - before)
    before = done
    if (done < 3 * ITEMS) setImmediate(look)
  }
  setImmediate(look)
  const work = async (): Promise<number[]> => {
    const found: number[] = []
    for await (const item of pace.of(numbers())) {
      const end = performance.now() + 1
      while (performance.now() < end);
      done += 1
      found.push(item)
    }
    return found
  }
  const all = Array.from({ length: ITEMS }, (_, at) => at)
  expect(await Promise.all([work(), work(), work()])).toEqual([all, all, all])
  expect(longest).toBeGreaterThan(0)
  expect(longest).toBeLessThan(12)
})

async function* numbers(): AsyncGenerator<number> {
  for (let at = 0; at < ITEMS; at += 1) yield at
}
