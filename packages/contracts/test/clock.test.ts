import { systemClock } from '@agentproto/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const DAY = 24 * 60 * 60 * 1_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a timer of thirty days, the longest life of a session, fires after thirty days', () => {
  const run = vi.fn()
  systemClock.after(30 * DAY, run)
  vi.advanceTimersByTime(30 * DAY - 1)
  expect(run).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(run).toHaveBeenCalledOnce()
})

test('a long timer is cancelled in each of its delays', () => {
  const run = vi.fn()
  const early = systemClock.after(60 * DAY, run)
  const late = systemClock.after(60 * DAY, run)
  early.cancel()
  vi.advanceTimersByTime(59 * DAY)
  late.cancel()
  vi.advanceTimersByTime(60 * DAY)
  expect(run).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})
