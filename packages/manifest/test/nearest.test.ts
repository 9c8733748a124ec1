import { expect, test } from 'vitest'
import { nearest } from '../src/nearest.js'

test.each([
  ['resumeable', ['ephemeral', 'persistent', 'resumable'], 'resumable'],
  ['chekc', ['check', 'cheek'], 'check'],
  ['idle-timeout-ms', ['idle_timeout_ms', 'max_turns'], 'idle_timeout_ms'],
  ['IdleTimeoutMs', ['idle_timeout_ms', 'max_turns'], 'idle_timeout_ms'],
  ['apc', ['acp', 'mcp'], 'acp'],
  ['zzz', ['acp', 'mcp'], undefined],
  ['', ['acp'], undefined],
  ['x', [], undefined],
])('%j among %j is %j', (given, candidates, expected) => {
  expect(nearest(given, candidates)).toBe(expected)
})
