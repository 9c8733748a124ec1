import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { lineWriter } from '../src/line-writer.js'

/** A pipe that keeps what each write brought. It takes a write when the test lets it. */
class Pipe extends Writable {
  readonly writes: string[] = []
  #taken: (() => void)[] = []
  readonly #isSlow: boolean

  constructor({ isSlow = false, highWaterMark = 16 << 10 } = {}) {
    super({ decodeStrings: false, highWaterMark })
    this.#isSlow = isSlow
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    this.writes.push(text)
    if (this.#isSlow) this.#taken.push(done)
    else done()
  }

  takeAll(): void {
    for (const done of this.#taken.splice(0)) done()
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const update = (at: number): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's_1', text: `chunk ${at}\n` } })
const updates = Array.from({ length: 10_000 }, (_, at) => update(at))

test('10,000 updates of one turn of the event loop are few writes, each line whole and in order', async () => {
  const pipe = new Pipe()
  const write = lineWriter(pipe)
  for (const line of updates) void write(line)
  await turn()
  const text = pipe.writes.join('')
  expect(text).toBe(updates.map((line) => `${line}\n`).join(''))
  // No write is much longer than 64 KiB: what is joined is bounded.
  expect(pipe.writes.length).toBeLessThanOrEqual(Math.ceil(text.length / (64 << 10)))
  expect(Math.max(...pipe.writes.map(({ length }) => length))).toBeLessThan((64 << 10) + 200)
  expect(pipe.writes.every((each) => each.endsWith('\n'))).toBe(true)
})

test('a line alone is written in the same turn, and lines of later turns are writes of their own', async () => {
  const pipe = new Pipe()
  const write = lineWriter(pipe)
  expect(write('one')).toBeUndefined()
  await turn()
  expect(pipe.writes).toEqual(['one\n'])
  void write('two')
  void write('three')
  await turn()
  expect(pipe.writes).toEqual(['one\n', 'two\nthree\n'])
})

test('while the pipe is full, the writer says so, and goes on when it is not', async () => {
  const pipe = new Pipe({ isSlow: true, highWaterMark: 100 })
  const write = lineWriter(pipe)
  void write('x'.repeat(200))
  await turn()
  const full = write('next')
  expect(full).toBeInstanceOf(Promise)
  let isDrained = false
  void full?.then(() => (isDrained = true))
  await turn()
  expect([isDrained, pipe.writes.length]).toEqual([false, 1])
  while (!isDrained) {
    pipe.takeAll()
    await turn()
  }
  expect(pipe.writes.join('')).toBe(`${'x'.repeat(200)}\nnext\n`)
  expect(write('last')).toBeUndefined()
  await turn()
  pipe.takeAll()
})

test('a writer that waits for the pipe never has more than one full write before it', async () => {
  const pipe = new Pipe({ isSlow: true })
  const write = lineWriter(pipe)
  let most = 0
  const taking = (async () => {
    for (const line of updates) {
      const full = write(line)
      most = Math.max(most, pipe.writableLength)
      if (full) await full
    }
  })()
  let isDone = false
  void taking.then(() => (isDone = true))
  while (!isDone) {
    pipe.takeAll()
    await turn()
  }
  await turn()
  pipe.takeAll()
  expect(most).toBeLessThan((64 << 10) + 200)
  expect(pipe.writes.join('')).toBe(updates.map((line) => `${line}\n`).join(''))
})

test('a pipe that breaks fails the one who waits, and no rejection is left over', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  try {
    const pipe = new PassThrough({ highWaterMark: 10 })
    pipe.on('error', () => {})
    const write = lineWriter(pipe)
    void write('x'.repeat(100))
    await turn()
    const waiting = write('next')
    pipe.destroy(new Error('EPIPE'))
    await expect(waiting).rejects.toThrow('EPIPE')
    await turn()
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})
