import { expect, test } from 'vitest'
import { newestTurns, queryOf, spanOf } from '../web/changes/span.js'

test('15.5 changes are those of a turn, since the review, or all', () => {
  expect(['all', 'review', '3', '0', '-1', '1e9', 'x'].map(spanOf)).toEqual([
    'all',
    'review',
    3,
    'all',
    'all',
    'all',
    'all',
  ])
  expect(queryOf('all')).toEqual({})
  expect(queryOf('review')).toEqual({ from: 'reviewed' })
  expect(queryOf(3)).toEqual({ turn: 3 })
})

test('15.5 the newest turns are offered first, and never thousands', () => {
  expect(newestTurns(3)).toEqual([3, 2, 1])
  expect(newestTurns(0)).toEqual([])
  expect(newestTurns(100_000)).toHaveLength(200)
})
