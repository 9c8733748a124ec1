import { expect, test } from 'vitest'
import { EchoFilter } from '../src/echo-filter.ts'
import { parseSettings } from '../src/settings.ts'

const { prompt, continuation } = parseSettings({ prompt: '>', continuation: '\\.\\.\\.' })
const filter = (typed: string) => new EchoFilter(typed, continuation ? [prompt, continuation] : [prompt])

test('the echo of what was typed is taken off, and nothing else', () => {
  expect(filter('1 + 1').take(['1 + 1\n', '2\n'])).toEqual(['2\n'])
  expect(filter('1 + 1').take(['> 1 + 1\n', '1 + 1\n'])).toEqual(['1 + 1\n'])
})

test('an echo that the terminal wraps, or that has several lines, is taken off whole', () => {
  expect(filter('abcdef').take(['abc\n', 'def\n', 'x\n'])).toEqual(['x\n'])
  expect(filter('a\nb').take(['a\n', '... b\n', 'x\n'])).toEqual(['x\n'])
})

test('a program that does not echo loses nothing', () => {
  expect(filter('1 + 1').take(['2\n'])).toEqual(['2\n'])
  const held = filter('abc')
  expect(held.take(['ab\n'])).toEqual([])
  expect(held.end()).toEqual(['ab\n'])
})

test('a line that is still being echoed is waited for', () => {
  const echo = filter('abc')
  expect(echo.expects('ab')).toBe(true)
  expect(echo.expects('x')).toBe(false)
  echo.take(['abc\n'])
  expect(echo.expects('')).toBe(false)
})
