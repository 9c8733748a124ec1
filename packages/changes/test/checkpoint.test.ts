import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorktrees } from '@agentproto/changes'
import { NOW } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { git, patchText, read, subject, subjectOn, take, write } from './folders.ts'

test('13.1 a checkpoint counts what changed since the previous one of its session', async () => {
  const { folder, changes } = await subject()
  await write(folder, { 'a.txt': 'one\ntwo\n', 'b/c.txt': 'x\n' })
  const start = await take(changes)
  expect(start).toMatchObject({ session: 'ses_1', files: 0, additions: 0, deletions: 0, leftOut: [] })
  await write(folder, { 'a.txt': 'one\n2\n', 'd.txt': 'new\n' })
  const first = await take(changes, { turn: 1, label: 'first' })
  expect(first).toMatchObject({ turn: 1, label: 'first', files: 2, additions: 2, deletions: 1 })
  const second = await take(changes, { turn: 2 })
  expect(second).toMatchObject({ files: 0 })
  expect((await changes.list('ses_1')).map(({ id }) => id)).toEqual([start.id, first.id, second.id])
  expect(await changes.list('ses_2')).toEqual([])
})

test('13.2 changes between two states list additions, changes, deletions, renames and binary files', async () => {
  const { folder, changes } = await subject()
  const text = 'line\n'.repeat(50)
  await write(folder, { 'keep.txt': 'k\n', 'old.txt': text, 'gone.txt': 'g\n', 'bin.dat': 'a\0b', link: 'plain\n' })
  const start = await take(changes)
  await write(folder, { 'new.txt': `${text}more\n`, 'added.txt': '1\n2\n', 'bin.dat': 'a\0c', link: '-> keep.txt' })
  await rm(join(folder, 'old.txt'))
  await rm(join(folder, 'gone.txt'))
  const end = await take(changes, { turn: 1 })
  const list = await changes.changes(start.id, end.id)
  expect(list).toEqual({
    files: [
      { path: 'added.txt', status: 'added', additions: 2, deletions: 0, binary: false },
      { path: 'bin.dat', status: 'modified', additions: 0, deletions: 0, binary: true },
      { path: 'gone.txt', status: 'deleted', additions: 0, deletions: 1, binary: false },
      { path: 'link', status: 'type_changed', additions: 1, deletions: 1, binary: false },
      { path: 'new.txt', oldPath: 'old.txt', status: 'renamed', additions: 1, deletions: 0, binary: false },
    ],
    totals: { files: 5, additions: 4, deletions: 2 },
    leftOut: [],
  })
  expect(await changes.changes(start.id, NOW)).toEqual(list)
  expect((await changes.changes(end.id, start.id)).totals).toEqual({ files: 5, additions: 2, deletions: 4 })
  const patch = changes.diff({ from: start.id, to: end.id, paths: ['added.txt'], maxBytes: 1_000_000 })
  expect(await patchText(patch)).toContain('+++ b/added.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n')
  expect(patch.truncated).toBe(false)
  const short = changes.diff({ from: start.id, to: end.id, maxBytes: 100 })
  expect(await patchText(short)).toHaveLength(100)
  expect(short.truncated).toBe(true)
})

test('13.3 a rewind restores files, links and modes, and can be rewound', async () => {
  const { folder, changes } = await subject()
  await write(folder, { 'a.txt': 'a\n', 'run.sh': '#!/bin/sh\n', 'dir/deep/x': 'x', l: '-> a.txt', swap: 'file' })
  const before = await read(folder)
  const start = await take(changes)
  await rm(join(folder, 'swap'))
  await write(folder, {
    'a.txt': 'changed\n',
    'run.sh': 'plain',
    dir: 'now a file',
    l: '-> dir',
    'swap/inner': 'y',
    'new/n': 'n',
  })
  const after = await read(folder)
  const dry = await changes.rewind({ session: 'ses_1', to: start.id, dryRun: true })
  expect(await read(folder)).toEqual(after)
  const result = await changes.rewind({ session: 'ses_1', to: start.id })
  expect(await read(folder)).toEqual(before)
  expect(result.kept).toEqual([])
  expect(dry).toEqual({ ...dry, changed: result.changed, changedCount: 8 })
  expect(dry.before).toBeUndefined()
  await changes.rewind({ session: 'ses_1', to: result.before?.id ?? '' })
  expect(await read(folder)).toEqual(after)
})

test('13.3 a rewind of some paths leaves the others', async () => {
  const { folder, changes } = await subject()
  await write(folder, { a: '1', 'b/c': '1', 'b/d': '1', bb: '1' })
  const start = await take(changes)
  await write(folder, { a: '2', 'b/c': '2', 'b/d': '2', bb: '2' })
  const { changed } = await changes.rewind({ session: 'ses_1', to: start.id, paths: ['b/'] })
  expect(changed.map(({ path }) => path)).toEqual(['b/c', 'b/d'])
  expect(await read(folder)).toEqual({ a: '2', 'b/c': '1', 'b/d': '1', bb: '2' })
  await expect(changes.rewind({ session: 'ses_1', to: start.id, paths: ['../x'] })).rejects.toMatchObject({
    code: 'path_invalid',
  })
})

test('13.3 the files of a checkpoint are copied to a worktree, also to a folder below its top', async () => {
  const { folder, home } = await subject()
  git(folder, 'init', '-q', '-b', 'main')
  await write(folder, { '.gitignore': 'ignored\n', 'sub/a': '1\n', 'sub/gone': '1\n', top: 't\n' })
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'one')
  const { changes } = await subjectOn(join(folder, 'sub'), { home })
  await write(folder, { 'sub/a': '2\n', 'sub/new': '#!/bin/sh\n' })
  await rm(join(folder, 'sub/gone'))
  const turn = await take(changes, { turn: 1 })
  await write(folder, { 'sub/a': '3\n' })
  const tree = await createWorktrees().create({ repository: folder, at: join(folder, '../tree') })
  await write(tree.path, { 'sub/ignored': 'i' })
  const { changedCount, kept } = await changes.copy({ checkpoint: turn.id, into: join(tree.path, 'sub') })
  expect({ changedCount, kept }).toEqual({ changedCount: 3, kept: [] })
  const copied = { 'sub/a': '2\n', 'sub/ignored': 'i', 'sub/new': 'x #!/bin/sh\n' }
  expect(await read(tree.path)).toEqual({ '.gitignore': 'ignored\n', top: 't\n', ...copied })
  expect(await read(join(folder, 'sub'))).toMatchObject({ a: '3\n' })
  expect((await changes.changes(turn.id, NOW)).files.map(({ path }) => path)).toEqual(['a'])
  const missing = changes.copy({ checkpoint: turn.id, into: join(folder, 'nowhere') })
  await expect(missing).rejects.toMatchObject({ code: 'checkpoint_failed' })
})
