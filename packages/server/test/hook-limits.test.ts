import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { EventHook } from '../src/hooks/event-hook.js'
import { withTimeLimit } from '../src/hooks/time-limit.js'

const never = new Promise<never>(() => undefined)

test('a hook that hangs again and again gets no more events', async () => {
  const clock = new FakeClock()
  const problems: string[] = []
  const records = Array.from({ length: 20 }, (_, index) => ({ seq: index + 1, type: 'title' as const, json: '{}' }))
  let read = 0
  const sessions = {
    list: async () => ({ sessions: [] }),
    get: async () => ({ status: 'exited' }) as never,
    follow: async () => ({ next: async () => (read++ === 0 ? { records } : undefined), close: () => undefined }),
    watch: () => {
      let first = true
      const next = async (): Promise<never[] | undefined> => {
        if (!first) return never
        first = false
        return [{ type: 'session', session: { id: 's1' } } as never]
      }
      return { next, close: () => undefined }
    },
  }
  let calls = 0
  const hang = (): Promise<never> => {
    calls += 1
    return never
  }
  const events = new EventHook(hang, { sessions, clock, timeoutMs: 10, onProblem: (problem) => problems.push(problem) })
  await events.start()
  for (let hung = 1; hung <= 5; hung++) {
    await vi.waitFor(() => expect(calls).toBe(hung), { timeout: 10_000 })
    clock.advance(10)
  }
  await vi.waitFor(() => expect(problems.at(-1)).toContain('gets no more events'), { timeout: 10_000 })
  expect(calls).toBe(5)
  // Once a minute at most, and once at the end.
  expect(problems).toHaveLength(2)
})

test('a hook that answers at once costs no timer, and the signal of a late one aborts', async () => {
  const clock = new FakeClock()
  expect(await withTimeLimit(() => 1, { clock, timeoutMs: 10 })).toBe(1)
  expect(clock.pending).toBe(0)
  let signal: AbortSignal | undefined
  const late = withTimeLimit((context) => ((signal = context.signal), never), { clock, timeoutMs: 10 })
  clock.advance(10)
  await expect(late).rejects.toMatchObject({ code: 'timeout' })
  expect([signal?.aborted, clock.pending]).toEqual([true, 0])
})

test('12 a hook that returns a promise of another realm has the same time limit', async () => {
  const clock = new FakeClock()
  const foreign = runInNewContext('new Promise(() => undefined)') as Promise<never>
  expect(foreign).not.toBeInstanceOf(Promise)
  const late = withTimeLimit(() => foreign, { clock, timeoutMs: 10 })
  await vi.waitFor(() => expect(clock.pending).toBe(1))
  clock.advance(10)
  await expect(late).rejects.toMatchObject({ code: 'timeout' })
})
