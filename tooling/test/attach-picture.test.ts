import { expect, test } from 'vitest'
import { attachPicture } from '../attach-picture.mjs'
import { page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

test('the picture in the README shows the captured screen', () => {
  expect(page(ROOT, 'docs/attach.svg') === attachPicture(), 'run: node tooling/attach-picture.mjs').toBe(true)
})
