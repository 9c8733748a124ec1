import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LeftOutSet } from '../src/shadow/left-out-set.ts'
import { read, subject, subjectOn, take, write } from './folders.ts'

test('13.1 checkpoints with thousands of long left-out names can still be listed, rewound and pruned', async () => {
  const { folder, changes, store } = await subject({ limits: { fileBytes: 10 } })
  const deep = Array.from({ length: 14 }, () => 'd'.repeat(250)).join('/')
  await mkdir(join(folder, deep), { recursive: true })
  execFileSync('sh', ['-c', 'for n in $(seq 1000); do echo 12345678901 > f$n; done'], { cwd: join(folder, deep) })
  await write(folder, { a: 'first' })
  const start = await take(changes)
  // What was stored of 20 such checkpoints could not be read any more.
  for (let turn = 1; turn < 20; turn++) await take(changes, { turn })
  expect(start.leftOutCount).toBe(1_000)
  await write(folder, { a: 'second' })
  expect(await changes.list()).toHaveLength(20)
  const { changed } = await changes.rewind({ session: 'ses_1', to: start.id })
  expect(changed).toEqual([{ path: 'a', status: 'modified' }])
  expect(await store.prune({ sessions: ['ses_1'] })).toMatchObject({ checkpoints: 21, problems: [] })
})

test('13.3 paths are compared with thousands of left-out folders without blocking', () => {
  const folders = Array.from({ length: 5_000 }, (_, n) => ({
    path: `nested/${n}/`,
    reason: 'nested_repository' as const,
  }))
  const set = new LeftOutSet([...folders, { path: 'file', reason: 'file_too_large' }])
  const begun = performance.now()
  let covered = 0
  for (let n = 0; n < 100_000; n++) if (set.covers(`src/deep/f${n}`)) covered++
  expect(covered).toBe(0)
  expect(performance.now() - begun).toBeLessThan(2_000)
  for (const path of ['nested/1/', 'nested/1/a/b', 'file']) expect(set.covers(path), path).toBe(true)
  for (const path of ['nested/1', 'nested/x', 'file/a', 'nested']) expect(set.covers(path), path).toBe(false)
})

test('13.1 a checkpoint leaves room on the disk, so that an agent that changes much each turn does not fill it', async () => {
  const { folder, home, changes } = await subject()
  await write(folder, { a: '1' })
  const start = await take(changes)
  const { changes: full } = await subjectOn(folder, { home, limits: { freeBytes: 2 ** 52 } })
  await write(folder, { a: '2' })
  expect(await full.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'disk_full' })
  await expect(full.rewind({ session: 's', to: start.id })).rejects.toMatchObject({ code: 'checkpoint_failed' })
  expect(await read(folder)).toEqual({ a: '2' })
})
