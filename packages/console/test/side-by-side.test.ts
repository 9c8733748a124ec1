import { expect, test } from 'vitest'
import { sidesOf } from '../web/changes/side-by-side.js'
import { runsOfPatch } from '../web/parts/patch-lines.js'

const PATCH = `@@ -1,4 +1,4 @@
 same
-old one
-old two
+new
 same
-gone
+
`

test('15.5 what was removed is beside what was added in its place', () => {
  expect(sidesOf(runsOfPatch(PATCH))).toEqual([
    { kind: 'note', lines: ['@@ -1,4 +1,4 @@'] },
    { kind: 'same', left: ['same'], right: ['same'] },
    { kind: 'changed', left: ['old one', 'old two'], right: ['new'] },
    { kind: 'same', left: ['same'], right: ['same'] },
    { kind: 'changed', left: ['gone'], right: [''] },
  ])
})

test('15.5 additions alone have nothing beside them', () => {
  expect(sidesOf(runsOfPatch('@@ -0,0 +1,2 @@\n+a\n+b\n'))).toMatchObject([
    { kind: 'note' },
    { kind: 'changed', left: [], right: ['a', 'b'] },
  ])
})
