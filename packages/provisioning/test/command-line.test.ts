import { expect, test } from 'vitest'
import { commandWords } from '../src/command-line.ts'
import { durationMs } from '../src/duration.ts'

test.each([
  ['a b  c', ['a', 'b', 'c']],
  [`a 'b c' "d e" f\\ g`, ['a', 'b c', 'd e', 'f g']],
  [`a "x\\"y" 'x\\y' "x\\y"`, ['a', 'x"y', 'x\\y', 'x\\y']],
  [`a ''  ""`, ['a', '', '']],
  [`a b"c"'d'e`, ['a', 'bcde']],
  ['  a\t\nb ', ['a', 'b']],
  ['a $HOME `id` $(id) ; | > &', ['a', '$HOME', '`id`', '$(id)', ';', '|', '>', '&']],
])('%s is split as a shell would', (command, words) => expect(commandWords(command)).toEqual(words))

test('a value is one word, or part of one, whatever it holds', () => {
  const values = new Map([
    ['input.url', `a 'b" $(id) ; c`],
    ['value', '--flag'],
  ])
  expect(commandWords('set url ${input.url} --to=${input.url} "x ${value} y" ${unknown}', values)).toEqual([
    'set',
    'url',
    `a 'b" $(id) ; c`,
    `--to=a 'b" $(id) ; c`,
    'x --flag y',
    '${unknown}',
  ])
})

test.each([`a 'b`, `a "b`, 'a \\', '', '  '])('%j cannot be run', (command) => {
  expect(() => commandWords(command)).toThrow(expect.objectContaining({ code: 'manifest_invalid' }))
})

test.each([
  ['PT30M', 1_800_000],
  ['P1DT2H', 93_600_000],
  ['P2W', 1_209_600_000],
  ['PT1.5S', 1_500],
  ['P1M', 2_592_000_000],
  ['P1Y', 31_536_000_000],
  ['P', undefined],
  ['30m', undefined],
  ['-PT30M', undefined],
  ['PT-30M', undefined],
  ['PT1.5M', 90_000],
  ['PT1.5H2M', undefined],
  ['xPT30M', undefined],
  ['PT30Mx', undefined],
  ['PT0S', undefined],
])('%s lasts %s ms', (text, ms) => expect(durationMs(text)).toBe(ms))

test.each([
  ['P1.5D', 129_600_000],
  ['P0.5W', 302_400_000],
  ['P1DT0.5H', 88_200_000],
])('12.C6 the cadence %s of a login is %s ms', (text, ms) => expect(durationMs(text)).toBe(ms))
