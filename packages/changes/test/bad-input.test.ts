import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { NOW } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { git, patchText, read, subject, subjectOn, take, tempFolder, write } from './folders.ts'

test('13.1 a folder that is gone, a file, a bare repository and .git are skipped with their reasons', async () => {
  const { folder, changes, store } = await subject()
  await write(folder, { a: '1' })
  const start = await take(changes)
  const end = await take(changes, { turn: 1 })
  await rename(folder, `${folder}-moved`)
  expect(await changes.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'folder_missing' })
  expect((await changes.changes(start.id, end.id)).files).toEqual([])
  await expect(changes.changes(start.id, NOW)).rejects.toMatchObject({ code: 'checkpoint_failed' })
  await expect(changes.rewind({ session: 's', to: start.id })).rejects.toMatchObject({ code: 'checkpoint_failed' })
  const bare = join(folder, '../bare')
  await mkdir(bare)
  git(bare, 'init', '-q', '--bare')
  const skipped = { kind: 'skipped', reason: 'repository_internals' }
  expect(await (await store.open(bare)).checkpoint({ session: 's' })).toMatchObject(skipped)
  expect(await (await store.open(join(bare, 'refs'))).checkpoint({ session: 's' })).toMatchObject(skipped)
  expect((await store.size()).folders).toBe(1)
})

test('13.1 an unborn branch and a rebase that stopped in the middle are recorded like any other state', async () => {
  const { folder, changes } = await subject()
  git(folder, 'init', '-q', '-b', 'main')
  await write(folder, { a: '1\n' })
  const unborn = await take(changes)
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'one')
  git(folder, 'checkout', '-q', '-b', 'other')
  await write(folder, { a: 'other\n' })
  git(folder, 'commit', '-q', '-a', '-m', 'two')
  git(folder, 'checkout', '-q', 'main')
  await write(folder, { a: 'main\n' })
  git(folder, 'commit', '-q', '-a', '-m', 'three')
  expect(() => git(folder, 'rebase', 'other')).toThrow('could not apply')
  const stopped = await read(folder)
  await take(changes, { turn: 1 })
  await changes.rewind({ session: 's', to: unborn.id })
  expect(await read(folder)).toEqual({ a: '1\n' })
  await changes.rewind({ session: 's', to: (await changes.list()).at(-1)?.id ?? '' })
  expect(await read(folder)).toEqual(stopped)
})

test('13.2 names with newlines, quotes, backslashes, patterns and bytes that are not UTF-8', async () => {
  const { folder, changes } = await subject()
  const names = [
    'new\nline',
    'quo"te\'s',
    'back\\slash',
    'star*?[a]',
    ':(exclude)x',
    '-dash',
    ' space ',
    '#hash',
    '!bang',
    'ж😀',
    'tab\t',
  ]
  const bytes = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x62, 0xff, 0x64, 0xc3])])
  const start = await take(changes)
  for (const name of names) await writeFile(join(folder, name), `${name}\n`)
  await writeFile(bytes, 'x\n')
  const before = await read(folder)
  const end = await take(changes, { turn: 1 })
  const { files } = await changes.changes(start.id, end.id)
  expect(files.map(({ path }) => path).toSorted()).toEqual([...names, 'b\uDCFFd\uDCC3'].toSorted())
  for (const { path } of files) {
    const text = await patchText(changes.diff({ from: start.id, to: end.id, paths: [path], maxBytes: 10_000 }))
    expect(text.match(/^diff --git/gm), path).toHaveLength(1)
  }
  await changes.rewind({ session: 's', to: start.id })
  expect(await read(folder)).toEqual({})
  await changes.rewind({ session: 's', to: end.id })
  expect(await read(folder)).toEqual(before)
})

test('13.3 case-only renames', async () => {
  const { folder, changes } = await subject()
  await write(folder, { 'Readme.md': 'text\n'.repeat(9), 'Dir/a': '1' })
  const start = await take(changes)
  await rename(join(folder, 'Readme.md'), join(folder, 'README.md'))
  await rename(join(folder, 'Dir'), join(folder, 'dir'))
  const { files } = await changes.changes(start.id, NOW)
  expect(files).toMatchObject([
    { oldPath: 'Readme.md', path: 'README.md', status: 'renamed' },
    { oldPath: 'Dir/a', path: 'dir/a', status: 'renamed' },
  ])
  await changes.rewind({ session: 's', to: start.id })
  expect(await readdir(folder)).toEqual(['Dir', 'Readme.md'])
})

test('13.1 a link that leads out is recorded as a link', async () => {
  const { folder, changes } = await subject()
  const outside = await tempFolder()
  await write(outside, { secret: 's' })
  await write(folder, { out: `-> ${outside}`, file: `-> ${outside}/secret` })
  const start = await take(changes)
  await rm(join(folder, 'out'))
  await rm(join(folder, 'file'))
  const patch = await patchText(changes.diff({ from: NOW, to: start.id, maxBytes: 10_000 }))
  expect(patch).toContain('new file mode 120000')
  expect(patch).not.toContain('+s')
  await changes.rewind({ session: 's', to: start.id })
  expect(await read(folder)).toEqual({ out: `-> ${outside}`, file: `-> ${outside}/secret` })
})

test('13.1 a file of 2 GB is named as left out, and a rewind keeps it', async () => {
  const { folder, changes, store } = await subject()
  await write(folder, { grows: 'small\n', a: '1' })
  const start = await take(changes)
  await truncate(join(folder, 'grows'), 2 * 2 ** 30)
  await write(folder, { a: '2' })
  const next = await take(changes, { turn: 1 })
  expect(next.leftOut).toEqual([{ path: 'grows', reason: 'file_too_large' }])
  const list = await changes.changes(start.id, next.id)
  expect(list.files.map(({ path }) => path)).toEqual(['a'])
  expect(list.leftOut).toEqual([{ path: 'grows', reason: 'file_too_large' }])
  const { kept } = await changes.rewind({ session: 's', to: start.id })
  expect(kept).toEqual([{ path: 'grows', reason: 'left_out' }])
  await writeFile(join(folder, 'grows'), 'small again\n')
  const { kept: late } = await changes.rewind({ session: 's', to: next.id })
  expect(late).toEqual([{ path: 'grows', reason: 'left_out' }])
  expect(await read(folder)).toMatchObject({ grows: 'small again\n' })
  expect((await store.size()).bytes).toBeLessThan(1_000_000)
})

test('13.1 folders with too many files or bytes are named as left out, not the whole', async () => {
  const { folder, changes } = await subject({ limits: { files: 20, bytes: 10_000 } })
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`web/node_modules/p${n}/index.js`, `${n}`]))
  await write(folder, { ...many, 'web/a': '1', b: '1' })
  const start = await take(changes)
  expect(start.leftOut).toEqual([{ path: 'web/node_modules/', reason: 'folder_too_large' }])
  await write(folder, { 'web/data/big1': 'x'.repeat(9_000), 'web/data/big2': 'x'.repeat(9_000), c: '1' })
  const next = await take(changes, { turn: 1 })
  expect(next).toMatchObject({ files: 1, leftOutCount: 2 })
  const flat = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, `${n}`]))
  await write(folder, flat)
  expect(await changes.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'too_large' })
})

test('13.1 a missing git and an ancient git are skipped, and found later', async () => {
  const missing = await subject({ git: '/nowhere/git' })
  expect(await missing.changes.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'git_missing' })
  const old = join(await tempFolder(), 'git')
  await writeFile(old, '#!/bin/sh\necho git version 2.17.1\n')
  await chmod(old, 0o755)
  const ancient = await subject({ git: old })
  expect(await ancient.changes.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'git_too_old' })
  await expect(ancient.changes.changes(NOW, NOW)).rejects.toMatchObject({ code: 'checkpoint_failed' })
  await writeFile(old, '#!/bin/sh\nexec git "$@"\n')
  await take(ancient.changes)
})

test('13.1 a full disk skips the checkpoint, loses nothing, and the next one works', async () => {
  const folder = await tempFolder()
  const wrapper = join(await tempFolder(), 'git')
  const full = `${wrapper}.full`
  // A limit of the size of a file stands for the disk.
  await writeFile(wrapper, `#!/bin/sh\n[ -e ${full} ] && trap '' XFSZ && ulimit -f 8\nexec git "$@"\n`)
  await chmod(wrapper, 0o755)
  const { changes } = await subjectOn(folder, { home: join(await tempFolder(), 'home'), git: wrapper })
  await write(folder, { a: '1' })
  const start = await take(changes)
  await writeFile(full, '')
  await writeFile(join(folder, 'big'), noise(100_000))
  const before = await read(folder)
  expect(await changes.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'disk_full' })
  await expect(changes.rewind({ session: 's', to: start.id })).rejects.toMatchObject({ code: 'checkpoint_failed' })
  expect(await read(folder)).toEqual(before)
  await rm(full)
  expect(await take(changes, { turn: 1 })).toMatchObject({ files: 1 })
  await changes.rewind({ session: 's', to: start.id })
  expect(await read(folder)).toEqual({ a: '1' })
})

const isRoot = process.getuid?.() === 0 && process.platform === 'linux'

// The test above has the same for everyone.
test.skipIf(!isRoot)('13.1 a file system without room skips the checkpoint', async ({ skip }) => {
  const home = join(await tempFolder(), 'small')
  await mkdir(home)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'none', home])
  } catch {
    skip('this container may not mount')
  }
  try {
    const folder = await tempFolder()
    const { changes } = await subjectOn(folder, { home, limits: { freeBytes: 0 } })
    await write(folder, { a: '1' })
    const start = await take(changes)
    await writeFile(join(folder, 'big'), noise(2_000_000))
    expect(await changes.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'disk_full' })
    await expect(changes.rewind({ session: 's', to: start.id })).rejects.toMatchObject({ code: 'checkpoint_failed' })
    await rm(join(folder, 'big'))
    await write(folder, { a: '2' })
    await take(changes, { turn: 1 })
  } finally {
    execFileSync('umount', [home])
  }
})

test('13.1 a git that hangs is ended at the time limit', async () => {
  const folder = await tempFolder()
  const home = join(await tempFolder(), 'home')
  const { changes } = await subjectOn(folder, { home, limits: { timeMs: 300 } })
  // For less time than after which a pipe is looked for.
  await write(folder, { 'below/a': '1' })
  execFileSync('mkfifo', [join(folder, 'below/.gitignore')])
  expect(await changes.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'time_limit' })
  await rm(join(folder, 'below/.gitignore'))
  const again = await subjectOn(folder, { home })
  await take(again.changes)
})

test('13.1 an abort rejects, and the next checkpoint works', async () => {
  const { folder, changes } = await subject()
  await write(folder, { a: '1' })
  const controller = new AbortController()
  const aborted = changes.checkpoint({ session: 's', signal: controller.signal })
  controller.abort()
  await expect(aborted).rejects.toMatchObject({ code: 'cancelled' })
  await take(changes)
})

test('13.1 lost objects and a damaged index are recorded again', async () => {
  const { folder, changes, home } = await subject()
  await write(folder, { a: '1', 'd/b': '1' })
  await take(changes)
  const store = join(home, 'checkpoints')
  const [shadow = ''] = await readdir(store)
  await rm(join(store, shadow, 'git/objects'), { recursive: true })
  await mkdir(join(store, shadow, 'git/objects/pack'), { recursive: true })
  await rm(join(store, shadow, 'git/refs/checkpoints'), { recursive: true })
  await write(folder, { 'd/b': '2' })
  const later = await subjectOn(folder, { home })
  const start = await take(later.changes)
  const index = (await readdir(join(store, shadow, 'git'))).find((name) => name.startsWith('index-')) ?? ''
  await writeFile(join(store, shadow, 'git', index), 'damaged')
  await writeFile(join(store, shadow, 'git', `${index}.lock`), '')
  await write(folder, { 'd/b': '3' })
  await take(later.changes, { turn: 1 })
  await later.changes.rewind({ session: 's', to: start.id })
  expect(await read(folder)).toEqual({ a: '1', 'd/b': '2' })
})

test('13.2 an unknown checkpoint, and one of another folder, are not found', async () => {
  const { folder, changes, store } = await subject()
  const none = await store.open(join(folder, '..'))
  await write(folder, { a: '1' })
  const { id } = await take(changes)
  for (const unknown of ['', 'HEAD', '0'.repeat(40), '--all', `${id}^{tree}`])
    await expect(changes.changes(unknown, id), unknown).rejects.toMatchObject({ code: 'checkpoint_not_found' })
  await expect(none.changes(id, id)).rejects.toMatchObject({ code: 'checkpoint_not_found' })
  await expect(patchText(changes.diff({ from: 'x', to: id, maxBytes: 9 }))).rejects.toMatchObject({
    code: 'checkpoint_not_found',
  })
  await expect(changes.checkpoint({ session: '../x' })).rejects.toMatchObject({ code: 'invalid_request' })
})

/** Bytes that cannot be compressed. */
function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, n) => createHash('sha512').update(`${n}`).digest())
  return Buffer.concat(blocks).subarray(0, length)
}
