import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type Output, widthOf } from '../src/cli-context.js'

const terminal = (size: { readonly columns?: number }): Output =>
  Object.assign(new PassThrough(), { isTTY: true, ...size })

test('a terminal that does not say its width, or says 0, has 80 columns; a pipe has no limit', () => {
  expect([{ columns: 40 }, { columns: 0 }, {}].map((size) => widthOf(terminal(size)))).toEqual([40, 80, 80])
  expect(widthOf(new PassThrough())).toBe(Number.MAX_SAFE_INTEGER)
})
