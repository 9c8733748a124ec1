import { expect, test } from 'vitest'
import { historyStep } from '../web/session/prompt-history.js'

const PROMPTS = ['first', 'second', 'third']

test('15.4 the arrows go through the prompts of a session, and end at an empty box', () => {
  expect(historyStep(PROMPTS, { at: undefined }, -1)).toEqual({ at: 2, text: 'third' })
  expect(historyStep(PROMPTS, { at: 2 }, -1)).toEqual({ at: 1, text: 'second' })
  expect(historyStep(PROMPTS, { at: 1 }, 1)).toEqual({ at: 2, text: 'third' })
  expect(historyStep(PROMPTS, { at: 2 }, 1)).toEqual({ at: undefined, text: '' })
})

test('15.4 before the first prompt and after the last one there is nothing', () => {
  expect(historyStep(PROMPTS, { at: 0 }, -1)).toBeUndefined()
  expect(historyStep(PROMPTS, { at: undefined }, 1)).toBeUndefined()
  expect(historyStep([], { at: undefined }, -1)).toBeUndefined()
})
