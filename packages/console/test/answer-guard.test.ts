import { expect, test } from 'vitest'
import { AnswerGuard } from '../web/gateway/answer-guard.js'

test('15.2 nothing answers a question within 300 ms of its appearance, or of a move of the list', () => {
  const guard = new AnswerGuard()
  expect(guard.isReady(1_000_000)).toBe(false)
  guard.restart(1_000)
  expect(guard.isReady(1_299)).toBe(false)
  expect(guard.isReady(1_300)).toBe(true)
  guard.restart(1_400)
  expect(guard.isReady(1_699)).toBe(false)
})
