import { expect, test } from 'vitest'
import { EchoFilter } from '../src/echo-filter.ts'
import { parseSettings } from '../src/settings.ts'

const { prompt, continuation } = parseSettings({ prompt: '>', continuation: '\\.\\.\\.' })
const filter = (typed: string) => new EchoFilter(typed, continuation ? [prompt, continuation] : [prompt])

test('the echo of typed text is removed, and nothing else', () => {
  expect(filter('1 + 1').filter(['1 + 1\n', '2\n'])).toEqual(['2\n'])
  expect(filter('1 + 1').filter(['> 1 + 1\n', '1 + 1\n'])).toEqual(['1 + 1\n'])
})

test('an echo that the terminal wraps, or that has several lines, is removed as a whole', () => {
  expect(filter('abcdef').filter(['abc\n', 'def\n', 'x\n'])).toEqual(['x\n'])
  expect(filter('a\nb').filter(['a\n', '... b\n', 'x\n'])).toEqual(['x\n'])
})

test('a program that does not echo loses nothing', () => {
  expect(filter('1 + 1').filter(['2\n'])).toEqual(['2\n'])
  const held = filter('abc')
  expect(held.filter(['ab\n'])).toEqual([])
  expect(held.end()).toEqual(['ab\n'])
})

test('a line that is still being echoed is waited for', () => {
  const echo = filter('abc')
  expect(echo.expects('ab')).toBe(true)
  expect(echo.expects('x')).toBe(false)
  echo.filter(['abc\n'])
  expect(echo.expects('')).toBe(false)
})
