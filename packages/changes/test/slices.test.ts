import { mkdir, writeFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { nulEnded, recordBatches } from '../src/git/records.ts'
import { FolderWatch } from '../src/shadow/folder-watch.ts'
import { FolderWeights } from '../src/shadow/folder-weights.ts'
import { inSlices } from '../src/slice.ts'
import { longestPiece } from './event-loop.ts'
import { subject, take, tempFolder } from './folders.ts'

/** Of all work: more than a slice and the garbage collector take, and much less than work in one piece. */
const MOST = 0.1

test('13.1 long work leaves room for everything else', async () => {
  let turns = 0
  let isWorking = true
  const others = (async () => {
    for (; isWorking; turns++) await setImmediate()
  })()
  await inSlices(Array.from({ length: 20 }), () => {
    const end = performance.now() + 1
    while (performance.now() < end);
  })
  isWorking = false
  await others
  expect(turns).toBeGreaterThanOrEqual(5)
})

test('13.1 paths for git come in pieces by their size', () => {
  const long = Array.from({ length: 1_000 }, (_, n) => `${'d/'.repeat(1_000)}${n}`)
  const pieces = [...nulEnded(long)]
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(80_000)
  expect(Buffer.concat(pieces).toString('utf8').split('\0')).toEqual([...long, ''])
})

test('13.1 output of git that has all come leaves room for everything else', async () => {
  let turns = 0
  let isReading = true
  const others = (async () => {
    for (; isReading; turns++) await setImmediate()
  })()
  async function* output(): AsyncGenerator<Buffer> {
    for (let n = 0; n < 400; n++) yield Buffer.from(`some/folder/file-${n}\0`.repeat(2_000))
  }
  let records = 0
  for await (const batch of recordBatches(output())) records += batch.length
  isReading = false
  await others
  expect(records).toBe(800_000)
  expect(turns).toBeGreaterThanOrEqual(10)
})

test('13.1 watching the folders of 300,000 files does not hold the event loop', needs('linux'), async () => {
  const workTree = await tempFolder()
  const paths = Array.from({ length: 300_000 }, (_, n) => `d${n % 50}/e${n % 2_000}/some-file-${n}.txt`)
  const longest = await longestPiece(async () => {
    const watch = await FolderWatch.begin({ workTree, paths, now: 0 })
    expect(await watch.suspects()).toHaveLength(paths.length)
  })
  expect(longest).toBeLessThan(MOST)
})

test('13.1 what very deep folders weigh is found without holding the event loop', needs('linux'), async () => {
  const deep = (n: number): string => `${'d/'.repeat(1_000)}${n}/${'e/'.repeat(900)}`
  const weights = new FolderWeights()
  const longest = await longestPiece(async () => {
    await inSlices(Array.from({ length: 60 }).keys(), (n) => weights.add(`${deep(n)}file`, n))
    await inSlices(Array.from({ length: 50_000 }).keys(), (n) => weights.add(`${deep(59)}${n}`, 1))
    const tree = await weights.tree()
    expect(await tree.heaviest('')).toBe(deep(59))
  })
  expect(longest).toBeLessThan(MOST)
})

test('13.2 the list of a large change does not hold the event loop', needs('linux'), async () => {
  const { changes, folder } = await subject()
  const start = await take(changes)
  for (let part = 0; part < 20; part++) {
    await mkdir(`${folder}/${part}`)
    await Promise.all(Array.from({ length: 200 }, (_, n) => writeFile(`${folder}/${part}/${n}`, `${part} ${n}`)))
  }
  const longest = await longestPiece(async () => {
    const { files, totals } = await changes.changes(start.id, 'now')
    expect(totals).toEqual({ files: 4_000, additions: 4_000, deletions: 0 })
    expect(files[0]).toMatchObject({ path: '0/0', status: 'added' })
  })
  expect(longest).toBeLessThan(MOST)
})
