import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readInput } from '../src/read-input.js'

test('12.C7 stdin is read up to its limit, and a longer one is refused without reading on', async () => {
  expect(await readInput(Readable.from(['a', Buffer.from('é')]), 3)).toBe('aé')
  let produced = 0
  function* endless(): Generator<Buffer> {
    for (;;) {
      produced += 1
      yield Buffer.alloc(1_000)
    }
  }
  await expect(readInput(Readable.from(endless()), 10_000)).rejects.toMatchObject({ code: 'invalid_request' })
  expect(produced).toBeLessThan(100)
})
