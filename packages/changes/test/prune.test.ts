import { createHash } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createChangeStore } from '@agentproto/changes'
import type { Clock } from '@agentproto/contracts'
import { NOW } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { patchText, read, subject, take, write } from './folders.ts'

/** Time that a test sets; its timers never fire. */
function handClock(): Clock & { time: number } {
  return {
    time: Date.parse('2026-01-01T00:00:00Z'),
    now: () => clock.time,
    after: () => ({ cancel: () => undefined }),
  } satisfies Clock & { time: number }
}
const clock = handClock()

test('13.1 checkpoints are pruned with their session and by age, and the space is free again', async () => {
  const { folder, changes, store, home } = await subject({ clock })
  await write(folder, { a: '1\n' })
  const old = await take(changes, { session: 'old' })
  await writeFile(join(folder, 'big'), noise(1_000_000))
  const gone = await take(changes, { session: 'gone' })
  await writeFile(join(folder, 'big'), 'small\n')
  clock.time += 86_400_000
  const kept = await take(changes, { session: 'kept' })
  const before = await store.size()
  expect(before).toMatchObject({ folders: 1 })
  const pruned = await store.prune({ sessions: ['gone'], before: clock.time })
  expect(pruned).toMatchObject({ checkpoints: 2, problems: [] })
  expect(pruned.bytes).toBeGreaterThan(900_000)
  expect((await store.size()).bytes).toBe(before.bytes - pruned.bytes)
  expect((await changes.list()).map(({ id }) => id)).toEqual([kept.id])
  for (const { id } of [old, gone])
    await expect(changes.changes(id, kept.id)).rejects.toMatchObject({ code: 'checkpoint_not_found' })
  await write(folder, { a: '2\n' })
  await changes.rewind({ session: 'kept', to: kept.id })
  expect(await read(folder)).toEqual({ a: '1\n', big: 'small\n' })
  expect((await changes.changes(kept.id, NOW)).files).toEqual([])

  const { checkpoints } = await createChangeStore({ home }).prune({ sessions: ['kept'] })
  expect(checkpoints).toBe(2)
  expect(await readdir(join(home, 'checkpoints'))).toEqual([])
  expect(await store.size()).toEqual({ bytes: 0, folders: 0 })
})

test('13.1 a checkpoint works after everything was pruned', async () => {
  const { folder, changes, store } = await subject()
  await write(folder, { a: '1\n' })
  await take(changes)
  await store.prune({ sessions: ['ses_1'] })
  expect(await changes.list()).toEqual([])
  const start = await take(changes)
  await write(folder, { a: '2\n' })
  expect(await patchText(changes.diff({ from: start.id, to: NOW, maxBytes: 1_000 }))).toContain('-1\n+2\n')
})

test('13.2 a patch that is being read is not pruned away', async () => {
  const { folder, changes, store } = await subject()
  await writeFile(join(folder, 'big'), 'line\n'.repeat(400_000))
  const start = await take(changes)
  await writeFile(join(folder, 'big'), 'other\n'.repeat(400_000))
  const end = await take(changes, { turn: 1 })
  const reading = changes.diff({ from: start.id, to: end.id, maxBytes: 100_000_000 })[Symbol.asyncIterator]()
  await reading.next()
  const pruning = store.prune({ sessions: ['ses_1'] })
  let lines = 0
  for (let piece = await reading.next(); piece.done !== true; piece = await reading.next()) lines += 1
  expect(lines).toBeGreaterThan(10)
  expect(await pruning).toMatchObject({ checkpoints: 2, problems: [] })
})

test('13.1 two sessions of one folder share its checkpoints, one after the other', async () => {
  const { folder, store } = await subject()
  await write(folder, { a: '1\n' })
  const [one, two] = [await store.open(folder), await store.open(`${folder}/../folder`)]
  expect(one).toBe(two)
  const results = await Promise.all(['s1', 's2', 's1', 's2'].map((session) => one.checkpoint({ session })))
  expect(results.map(({ kind }) => kind)).toEqual(['taken', 'taken', 'taken', 'taken'])
  expect((await one.list()).map(({ session }) => session)).toEqual(['s1', 's2', 's1', 's2'])
})

function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, n) => createHash('sha512').update(`${n}`).digest())
  return Buffer.concat(blocks).subarray(0, length)
}
