import { expect, test } from 'vitest'
import { cockpitPicture } from '../cockpit-picture.mjs'
import { page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

test('14.done the picture of the list shows the captured screen', () => {
  expect(page(ROOT, 'docs/cockpit.svg') === cockpitPicture(), 'run: node tooling/cockpit-picture.mjs').toBe(true)
})
