import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LineSplitter, OutputPump } from '../src/output.js'

/** A pump whose reader finishes a batch when it is released. */
function pumped() {
  const stream = new PassThrough()
  const batches: string[] = []
  const taken: (() => void)[] = []
  const pump = new OutputPump(stream, new LineSplitter(1_000, () => {}), (lines) => {
    batches.push(lines.join(' '))
    return new Promise<void>((resolve) => taken.push(resolve))
  })
  return { stream, batches, taken, pump }
}

test('F34 Node resumes the pipes of a process that ended: no batch overtakes the one being taken', async () => {
  const { stream, batches, taken, pump } = pumped()
  stream.write('one\n')
  await turn()
  stream.write('two\n')
  stream.write('three\n')
  stream.resume()
  await turn()
  expect(batches).toEqual(['one'])
  stream.resume()
  stream.end('four')
  await turn()
  expect(batches).toEqual(['one'])
  for (let released = 0; batches.join(' ') !== 'one two three four'; released++) {
    expect(taken).toHaveLength(released + 1)
    taken[released]?.()
    await turn()
  }
  taken.at(-1)?.()
  await pump.ended
  expect(pump.held).toBe(false)
})
