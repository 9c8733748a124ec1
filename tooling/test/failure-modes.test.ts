import { expect, test } from 'vitest'
import { page } from '../markdown.ts'
import { ROOT } from '../packages.ts'
import { sourceFiles } from '../source-files.ts'

const LISTED = 99
const rows = new Map(
  page(ROOT, 'docs/failure-modes.md')
    .split('\n')
    .map((line) => /^\| F(\d+) \| .+ \| (.+) \|$/.exec(line))
    .filter((match) => match !== null)
    .map(([, number, here = '']) => [Number(number), here]),
)
const titled = new Set(
  ['packages', 'e2e', 'tooling'].flatMap((folder) =>
    sourceFiles(ROOT, folder)
      .filter(({ path }) => path.endsWith('.test.ts'))
      .flatMap(({ text }) => numbersOf(text)),
  ),
)

/** Numbers with which titles of tests begin. */
function numbersOf(text: string): readonly number[] {
  const titles = text.matchAll(/\btest(?:\.\w+(?:\([^)]*\))?)*\(\s*['"`]((?:F\d+ )+)/g)
  return [...titles].flatMap(([, numbers = '']) => numbers.trim().split(' ')).map((number) => Number(number.slice(1)))
}

test('docs/failure-modes.md has each failure mode once, in order', () => {
  expect([...rows.keys()]).toEqual(Array.from({ length: LISTED }, (_, index) => index + 1))
})

test('a failure mode that docs/failure-modes.md calls tested has a test with its number, and vice versa', () => {
  const called = [...rows].filter(([, here]) => here.startsWith('tested')).map(([number]) => number)
  expect(called).toEqual([...titled].toSorted((a, b) => a - b))
})

test('every other failure mode names its issue or says why it cannot happen', () => {
  const rest = [...rows].filter(([, here]) => !/^(?:tested|#\d+|cannot (?:happen|be prevented): .{20})/.test(here))
  expect(rest).toEqual([])
})

test('a title is found in each way of writing a test', () => {
  // Put together, so that this file is not taken for their test.
  const F = 'F'
  const text = `test('${F}7 a')\ntest.runIf(onLinux)('${F}8 b')\ntest.each([1])('${F}9 ${F}11 c')\ntest('no ${F}10')`
  expect(numbersOf(text)).toEqual([7, 8, 9, 11])
})
