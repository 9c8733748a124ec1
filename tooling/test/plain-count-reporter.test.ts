import { expect, test } from 'vitest'
import { countLine } from '../plain-count-reporter.ts'

test('the count names passed and failed always, skipped only where there are some', () => {
  expect(countLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
  expect(countLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
})
