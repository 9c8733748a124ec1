import { setTimeout as delay } from 'node:timers/promises'
import type { Turn } from '../turn.js'
import { wholeNumber } from './argument.js'

const MAX_DELAY_MS = 24 * 60 * 60 * 1000

export async function late(turn: Turn, argument: string): Promise<void> {
  const ms = wholeNumber(argument, 1_000, MAX_DELAY_MS)
  await delay(ms, undefined, { signal: turn.signal })
  turn.say(`I am ${ms} ms late.`)
}

export function hang(turn: Turn): Promise<void> {
  return new Promise((resolve) => turn.signal.addEventListener('abort', () => resolve(), { once: true }))
}

export function hangForever(): Promise<void> {
  return new Promise(() => {})
}
