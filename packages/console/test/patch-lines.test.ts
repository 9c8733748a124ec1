import { expect, test } from 'vitest'
import { runsOfPatch, runsOfTexts } from '../web/parts/patch-lines.js'

const kinds = (runs: ReturnType<typeof runsOfPatch>) => runs.map(({ kind, lines }) => [kind, lines.join('|')])

test('15.2 a change of a text is its changed lines, with a few around them', () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n')
  const runs = runsOfTexts(before, before.replace('line 10\n', 'other\n'))
  expect(kinds(runs)).toEqual([
    ['note', '@@ -7,7 +7,7 @@'],
    ['same', 'line 7|line 8|line 9'],
    ['removed', 'line 10'],
    ['added', 'other'],
    ['same', 'line 11|line 12|line 13'],
  ])
  expect(runs[2]).toMatchObject({ oldStart: 10, newStart: 10 })
  expect(runs[4]).toMatchObject({ oldStart: 11, newStart: 11 })
})

test('15.2 a new text is all added, a deleted one all removed', () => {
  expect(kinds(runsOfTexts('', 'a\nb\n'))).toEqual([['added', 'a|b']])
  expect(kinds(runsOfTexts('a\n', ''))).toEqual([['removed', 'a']])
})

test('15.2 a missing newline at the end is said', () => {
  expect(kinds(runsOfTexts('a\n', 'a'))).toContainEqual(['note', '\\ No newline at end of file'])
})

test('15.2 texts that differ too much to compare are shown whole at once', () => {
  const lines = (of: string) => Array.from({ length: 40_000 }, (_, index) => `${of} ${index * 7}`).join('\n')
  // Comparing them to the end would take minutes.
  const started = performance.now()
  const runs = runsOfTexts(lines('a'), lines('b'))
  expect(performance.now() - started).toBeLessThan(20_000)
  expect(runs.filter(({ kind }) => kind === 'removed').flatMap(({ lines: of }) => of)).toHaveLength(40_000)
  expect(runs.filter(({ kind }) => kind === 'added').flatMap(({ lines: of }) => of)).toHaveLength(40_000)
})

const PATCH = `diff --git a/one.txt b/one.txt
index 1..2 100644
--- a/one.txt
+++ b/one.txt
@@ -3,3 +3,3 @@ heading
 same
--- removed, and no heading
+++ added, and no heading
 same
diff --git a/two.txt b/two.txt
`

test('15.5 a line of a unified patch is what its hunk says, whatever it looks like', () => {
  const runs = runsOfPatch(PATCH)
  expect(kinds(runs)).toEqual([
    ['note', 'diff --git a/one.txt b/one.txt|index 1..2 100644|--- a/one.txt|+++ b/one.txt|@@ -3,3 +3,3 @@ heading'],
    ['same', 'same'],
    ['removed', '-- removed, and no heading'],
    ['added', '++ added, and no heading'],
    ['same', 'same'],
    ['note', 'diff --git a/two.txt b/two.txt'],
  ])
  expect(runs[4]).toMatchObject({ oldStart: 5, newStart: 5 })
})

test('15.5 a patch that was cut keeps every line', () => {
  expect(kinds(runsOfPatch('@@ -1,9 +1,9 @@\n-a\n+b\n… and more'))).toEqual([
    ['note', '@@ -1,9 +1,9 @@'],
    ['removed', 'a'],
    ['added', 'b'],
    ['note', '… and more'],
  ])
})
