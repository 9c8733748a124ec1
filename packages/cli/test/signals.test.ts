import { AgentprotoError } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { interruptible } from '../src/signals.ts'

test('18.B1 a library that ends the process where it finds no other listener finds one until the work has ended', async () => {
  const cancelled = new AgentprotoError('cancelled', 'cancelled')
  const working = interruptible(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(cancelled))),
  )
  const before = process.listenerCount('SIGTERM')
  const found: number[] = []
  const library = (): void => void found.push(process.listenerCount('SIGTERM') - 1)
  process.on('SIGTERM', library)
  onTestFinished(() => void process.off('SIGTERM', library))
  process.emit('SIGTERM', 'SIGTERM')
  expect(found).toEqual([before])
  expect(await working).toBe(130)
  expect(process.listenerCount('SIGTERM')).toBe(before)
})
