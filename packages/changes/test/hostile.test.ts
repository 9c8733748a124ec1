import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createChangeStore } from '@agentproto/changes'
import { type Clock, systemClock } from '@agentproto/contracts'
import { NOW } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { FolderWatch } from '../src/shadow/folder-watch.ts'
import { fingerprint, git, patchText, read, subject, take, tempFolder, write, subjectOn } from './folders.ts'

test('13.1 nothing in .git changes: index, refs, stash, config and hooks, byte for byte', async () => {
  const { folder, changes } = await subject()
  git(folder, 'init', '-q', '-b', 'main')
  await write(folder, { 'a.txt': '1\n', '.gitignore': 'ignored\n' })
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'one')
  await write(folder, { 'a.txt': '2\n' })
  git(folder, 'stash')
  await write(folder, {
    'a.txt': '3\n',
    'staged.txt': 's\n',
    ignored: 'i',
    '.git/hooks/post-index-change': '#!/bin/sh\nexit 1\n',
  })
  git(folder, 'add', 'staged.txt')
  const before = await fingerprint(join(folder, '.git'))
  const start = await take(changes)
  await write(folder, { 'a.txt': '4\n', 'b.txt': 'b' })
  await take(changes, { turn: 1 })
  await changes.changes(start.id, NOW)
  await patchText(changes.diff({ from: start.id, to: NOW, maxBytes: 1_000 }))
  await changes.rewind({ session: 'ses_1', to: start.id })
  expect(await fingerprint(join(folder, '.git'))).toEqual(before)
  expect(await read(folder)).toMatchObject({ 'a.txt': '3\n', ignored: 'i' })
})

test('13.1 programs that the repository names are never started, and bytes stay as they are', async () => {
  const { folder, changes } = await subject()
  const trap = join(await tempFolder(), 'trap')
  const ran = `${trap}.ran`
  await writeFile(trap, `#!/bin/sh\ntouch ${ran}\ncat\n`)
  await chmod(trap, 0o755)
  git(folder, 'init', '-q')
  const settings = [
    'core.fsmonitor',
    'core.sshCommand',
    'diff.external',
    'core.alternateRefsCommand',
    'filter.trap.clean',
    'filter.trap.smudge',
    'filter.trap.process',
    'diff.trap.textconv',
    'diff.trap.command',
    'credential.helper',
    'gpg.program',
    'core.editor',
    'core.pager',
  ]
  for (const name of settings) git(folder, 'config', name, trap)
  git(folder, 'config', 'filter.trap.required', 'true')
  git(folder, 'config', 'core.worktree', '/')
  git(folder, 'config', 'core.autocrlf', 'true')
  await write(folder, {
    '.gitattributes': '* filter=trap diff=trap text=auto eol=crlf ident working-tree-encoding=UTF-16\n',
    'crlf.txt': 'a\r\nb\n$Id$\r\n',
  })
  for (const hook of ['post-checkout', 'post-index-change', 'pre-commit', 'reference-transaction'])
    await write(folder, { [`.git/hooks/${hook}`]: `#!/bin/sh\ntouch ${ran}\n` })
  const start = await take(changes)
  const before = await read(folder)
  await write(folder, { 'crlf.txt': 'c\r\nd\n$Id: x$\n' })
  await take(changes, { turn: 1 })
  expect(await patchText(changes.diff({ from: start.id, to: NOW, maxBytes: 10_000 }))).toContain('+c\r\n+d\n')
  await changes.rewind({ session: 'ses_1', to: start.id })
  expect(await read(folder)).toEqual(before)
  expect(existsSync(ran)).toBe(false)
})

test('13.1 a checkpoint does not depend on objects of the repository', async () => {
  const { folder, changes } = await subject()
  git(folder, 'init', '-q')
  await write(folder, { 'a.txt': 'only here\n' })
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'one')
  const start = await take(changes)
  await rm(join(folder, 'a.txt'))
  git(folder, 'update-ref', '-d', 'HEAD')
  git(folder, 'rm', '-q', '--cached', 'a.txt')
  git(folder, 'reflog', 'expire', '--expire=now', '--all')
  git(folder, 'gc', '-q', '--prune=now')
  await changes.rewind({ session: 'ses_1', to: start.id })
  expect(await read(folder)).toEqual({ 'a.txt': 'only here\n' })
})

test('13.1 ignore rules of the folder, of the folders above it and of info/exclude are respected', async () => {
  const { folder, home } = await subject()
  git(folder, 'init', '-q')
  await write(folder, {
    '.gitignore': '*.log\n/sub/built/\n',
    '.git/info/exclude': 'private\n',
    'sub/.gitignore': '!kept.log\n',
    'sub/a': 'a',
    'sub/x.log': 'x',
    'sub/kept.log': 'k',
    'sub/built/b': 'b',
    'sub/private': 'p',
    outside: 'o',
  })
  const { changes } = await subjectOn(join(folder, 'sub'), { home })
  const empty = await take(changes)
  const now = { ...(await read(join(folder, 'sub'))) }
  await rm(join(folder, 'sub/a'))
  await rm(join(folder, 'sub/kept.log'))
  await rm(join(folder, 'sub/.gitignore'))
  const list = await changes.changes(empty.id, NOW)
  expect(list.files.map(({ path }) => path)).toEqual(['.gitignore', 'a', 'kept.log'])
  await changes.rewind({ session: 's', to: empty.id })
  expect(await read(join(folder, 'sub'))).toEqual(now)
})

test('13.1 a linked worktree has the ignore rules of its repository', async () => {
  const { folder, home } = await subject()
  git(folder, 'init', '-q')
  await write(folder, { a: '1', '.git/info/exclude': 'private\n' })
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'one')
  git(folder, 'worktree', 'add', '-q', '../linked')
  const linked = join(folder, '../linked')
  const { changes } = await subjectOn(linked, { home })
  const start = await take(changes)
  await write(linked, { private: 'p', b: 'b' })
  expect((await changes.changes(start.id, NOW)).files.map(({ path }) => path)).toEqual(['b'])
})

test('13.1 a folder that the repository around it ignores is recorded', async () => {
  const { folder, home } = await subject()
  git(folder, 'init', '-q')
  await write(folder, { '.gitignore': 'scratch/\n', 'scratch/a': '1' })
  const { changes } = await subjectOn(join(folder, 'scratch'), { home })
  const start = await take(changes)
  await write(folder, { 'scratch/a': '2' })
  expect((await changes.changes(start.id, NOW)).totals.files).toBe(1)
})

test('13.1 submodules and nested repositories are left alone', async () => {
  const { folder, changes } = await subject()
  await write(folder, { a: '1', 'nested/n': '1' })
  git(join(folder, 'nested'), 'init', '-q')
  git(join(folder, 'nested'), 'add', '-A')
  git(join(folder, 'nested'), 'commit', '-q', '-m', 'one')
  git(join(folder, 'nested'), 'config', 'core.fsmonitor', '/nowhere/trap')
  const start = await take(changes)
  expect(start.leftOut).toEqual([{ path: 'nested/', reason: 'nested_repository' }])
  await write(folder, { a: '2', 'nested/n': '2' })
  const before = await fingerprint(join(folder, 'nested'))
  expect((await changes.changes(start.id, NOW)).files.map(({ path }) => path)).toEqual(['a'])
  await changes.rewind({ session: 's', to: start.id })
  expect(await fingerprint(join(folder, 'nested'))).toEqual(before)
})

test('13.1 the home is never part of a checkpoint, whatever the ignore rules say', async () => {
  const folder = await tempFolder()
  await write(folder, { a: '1', '.gitignore': '!.agentproto/\n!**\n' })
  const { changes, store } = await subjectOn(folder, { home: join(folder, '.agentproto') })
  const start = await take(changes)
  await write(folder, { b: '1' })
  await take(changes, { turn: 1 })
  expect((await changes.changes(start.id, NOW)).files.map(({ path }) => path)).toEqual(['b'])
  await changes.rewind({ session: 's', to: start.id })
  expect(Object.keys(await read(folder)).filter((path) => !path.startsWith('.agentproto/'))).toEqual([
    '.gitignore',
    'a',
  ])
  const own = await store.open(join(folder, '.agentproto'))
  expect(await own.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'home' })
})

test('13.3 a rewind never follows a folder that was replaced by a link', async () => {
  const { folder, changes } = await subject()
  const outside = await tempFolder()
  await write(outside, { x: 'outside', y: 'outside' })
  await write(folder, { 'd/x': 'inside', 'e/deep/y': '1' })
  const start = await take(changes)
  await write(folder, { 'd/new': 'n' })
  await take(changes, { turn: 1 })
  await rm(join(folder, 'd'), { recursive: true })
  await symlink(outside, join(folder, 'd'))
  await rm(join(folder, 'e/deep'), { recursive: true })
  await symlink(outside, join(folder, 'e/deep'))
  const before = await fingerprint(outside)
  // The links are part of the state of now, and are themselves replaced.
  await changes.rewind({ session: 's', to: start.id })
  expect(await read(folder)).toEqual({ 'd/x': 'inside', 'e/deep/y': '1' })
  expect(await fingerprint(outside)).toEqual(before)
})

test('13.3 a link that is ignored stays, and what would be below it is kept', async () => {
  const { folder, changes } = await subject()
  const outside = await tempFolder()
  await write(folder, { 'd/x': 'inside' })
  const start = await take(changes)
  await rm(join(folder, 'd'), { recursive: true })
  await write(folder, { '.gitignore': '/d\n' })
  await symlink(outside, join(folder, 'd'))
  const { kept } = await changes.rewind({ session: 's', to: start.id, paths: ['d'] })
  expect(kept).toMatchObject([{ path: 'd/x', reason: 'in_the_way' }])
  expect(await read(outside)).toEqual({})
})

test('13.3 a rewind while folders are swapped with links writes nothing outside', async () => {
  const { folder, changes } = await subject()
  const outside = await tempFolder()
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`d/f${n}`, `${n}`]))
  await write(folder, files)
  const start = await take(changes)
  for (const path of Object.keys(files)) await rm(join(folder, path))
  await write(folder, { 'd/keep': 'k' })
  let swapping = true
  const swaps = (async () => {
    while (swapping) {
      await rename(join(folder, 'd'), join(folder, 'aside')).catch(() => undefined)
      await symlink(outside, join(folder, 'd')).catch(() => undefined)
      await rm(join(folder, 'd')).catch(() => undefined)
      await rename(join(folder, 'aside'), join(folder, 'd')).catch(() => undefined)
    }
  })()
  for (let round = 0; round < 5; round++) await changes.rewind({ session: 's', to: start.id }).catch(() => undefined)
  swapping = false
  await swaps
  expect(await read(outside)).toEqual({})
})

test('13.3 a file that the earlier state ignored is not deleted', async () => {
  const { folder, changes } = await subject()
  await write(folder, { '.gitignore': 'secret\n', secret: 's', 'sub/.gitignore': 'cache/\n', 'sub/cache/c': 'c' })
  const start = await take(changes)
  await write(folder, { '.gitignore': '', 'sub/.gitignore': '', other: 'o' })
  await take(changes, { turn: 1 })
  const dry = await changes.rewind({ session: 's', to: start.id, dryRun: true })
  const { kept, changed } = await changes.rewind({ session: 's', to: start.id })
  expect(kept).toEqual([
    { path: 'secret', reason: 'ignored' },
    { path: 'sub/cache/c', reason: 'ignored' },
  ])
  expect(dry).toMatchObject({ changed, kept })
  expect(await read(folder)).toMatchObject({ secret: 's', 'sub/cache/c': 'c' })
  expect(await read(folder)).not.toHaveProperty('other')
})

test('13.3 pipes and sockets neither block a checkpoint nor are deleted', async () => {
  const { folder, changes } = await subject({ limits: { timeMs: 10_000 } })
  await write(folder, { a: '1', b: '1' })
  const start = await take(changes)
  await rm(join(folder, 'a'))
  execFileSync('mkfifo', [join(folder, 'a'), join(folder, 'fifo')])
  const next = await take(changes, { turn: 1 })
  expect(next.leftOut).toEqual([{ path: 'a', reason: 'special_file' }])
  const { kept } = await changes.rewind({ session: 's', to: start.id })
  expect(kept).toEqual([{ path: 'a', reason: 'in_the_way' }])
})

test('13.3 a folder whose ignore file is a pipe is skipped at once, with the reason', async () => {
  const { folder, home, changes } = await subject()
  await write(folder, { a: '1' })
  execFileSync('mkfifo', [join(folder, '.gitignore')])
  const result = await changes.checkpoint({ session: 's' })
  const detail = `${join(folder, '.gitignore')} is a pipe: git would wait for its other end.`
  expect(result).toEqual({ kind: 'skipped', reason: 'git_failed', detail })
  await rm(join(folder, '.gitignore'))
  await take(changes)
  // Above a session's folder too, as far as its repository goes.
  git(folder, 'init', '-q')
  await write(folder, { 'above/below/a': '1' })
  execFileSync('mkfifo', [join(folder, 'above/.gitattributes')])
  const { changes: below } = await subjectOn(join(folder, 'above/below'), { home })
  expect(await below.checkpoint({ session: 's' })).toMatchObject({ kind: 'skipped', reason: 'git_failed' })
})

test('13.3 folders inside whose ignore or attributes file is a pipe are left out until it is gone', async () => {
  let isWatched = true
  // Of the timer after which a git that has not ended may be waiting for a pipe.
  const clock: Clock = {
    ...systemClock,
    after: (ms, run) => (ms === 1_000 && !isWatched ? { cancel: () => undefined } : systemClock.after(ms, run)),
  }
  const { folder, changes } = await subject({ limits: { timeMs: 20_000 }, clock })
  await write(folder, { a: '1', 'one/b': '1', 'one/deep/c': '1', 'two [x]/d': '1', 'pipes in others/e': '1' })
  const start = await take(changes)
  execFileSync('mkfifo', ['one/.gitignore', 'two [x]/.gitattributes'], { cwd: folder })
  await write(folder, { a: '2', 'one/b': '2', 'one/deep/c': '2', 'two [x]/d': '2', 'two [x]/new': '2' })
  const next = await take(changes, { turn: 1 })
  const leftOut = ['one/', 'two [x]/'].map((path) => ({ path, reason: 'special_file' }))
  expect(next).toMatchObject({ files: 1, leftOut })
  expect(await changes.changes(start.id, next.id)).toMatchObject({ files: [{ path: 'a' }], leftOut })
  // They are known now: git is not started on them, since nothing would end its wait.
  isWatched = false
  await take(changes, { turn: 2 })
  isWatched = true
  const { kept } = await changes.rewind({ session: 'ses_1', to: start.id })
  expect(kept).toEqual(['one/b', 'one/deep/c', 'two [x]/d'].map((path) => ({ path, reason: 'left_out' })))
  expect(await readFile(join(folder, 'one/b'), 'utf8')).toBe('2')
  await Promise.all(['one/.gitignore', 'two [x]/.gitattributes'].map((path) => rm(join(folder, path))))
  const last = await take(changes, { turn: 3 })
  expect(last.leftOut).toEqual([])
  const { files } = await changes.changes(start.id, last.id)
  expect(files.map(({ path }) => path)).toEqual(['one/b', 'one/deep/c', 'two [x]/d', 'two [x]/new'])
})

test('13.3 too many folders with such a pipe are skipped, at once the second time', async () => {
  const { folder, changes } = await subject({ limits: { timeMs: 20_000 } })
  const names = Array.from({ length: 30 }, (_, n) => `d${n}`)
  await write(folder, Object.fromEntries(names.map((name) => [`${name}/a`, '1'])))
  execFileSync(
    'mkfifo',
    names.map((name) => join(folder, name, '.gitignore')),
  )
  for (let turn = 1; turn < 3; turn++) {
    const result = await changes.checkpoint({ session: 's', turn })
    expect(result).toMatchObject({
      kind: 'skipped',
      reason: 'git_failed',
      detail: expect.stringMatching(/^Too many folders/),
    })
  }
})

test('13.1 names of folders that look like patterns, a .git that is a link, and one that names a pipe', async () => {
  const root = await tempFolder()
  const repo = join(root, 'real')
  await mkdir(repo)
  git(repo, 'init', '-q')
  const folder = join(root, 'f*[x] \n!#')
  await mkdir(folder)
  await symlink(join(repo, '.git'), join(folder, '.git'))
  await write(folder, { a: '1', '.gitignore/x': 'dir', 'sub dir[1]*/b': '1', 'sub dir[1]*/.gitignore': 'zz' })
  const { changes } = await subjectOn(folder, { home: join(folder, 'ho*me [1]') })
  const start = await take(changes)
  await write(folder, { c: '1', 'sub dir[1]*/zz': '1' })
  expect(start.leftOut).toEqual([])
  expect((await changes.changes(start.id, NOW)).files.map((f) => f.path)).toEqual(['c'])
  execFileSync('mkfifo', [join(root, 'fifo')])
  const g = join(root, 'g')
  await mkdir(g)
  await writeFile(join(g, '.git'), `gitdir: ${root}/fifo\n`)
  await writeFile(join(g, 'a'), '')
  const other = await subjectOn(g, { home: join(root, 'h2') })
  await take(other.changes)
  // sub folder with pattern characters inside of a repository
  const sub = join(repo, 's*[u]?b')
  await write(repo, { 's*[u]?b/a': '1', 'sxub/a': '1', '.gitignore': 'ign\n', 's*[u]?b/ign': '1' })
  const inSub = await subjectOn(sub, { home: join(root, 'h3') })
  const st = await take(inSub.changes)
  await write(repo, { 's*[u]?b/a': '2', 's*[u]?b/ign': '3', 'sxub/a': '2' })
  expect((await inSub.changes.changes(st.id, NOW)).files.map((f) => f.path)).toEqual(['a'])
})

test('13.2 a change that keeps size and time of a file is found', async () => {
  const { folder, changes } = await subject()
  await write(folder, { a: '1111' })
  const s = await stat(join(folder, 'a'))
  const start = await take(changes)
  await writeFile(join(folder, 'a'), '2222')
  await utimes(join(folder, 'a'), s.atime, s.mtime)
  expect((await changes.changes(start.id, NOW)).files.length).toBe(1)
})

test('13.3 a private file stays private', async () => {
  const { folder, changes } = await subject()
  await write(folder, { 'd/a': '1' })
  await chmod(join(folder, 'd/a'), 0o600)
  const s = await take(changes)
  await writeFile(join(folder, 'd/a'), '2')
  await changes.rewind({ session: 's', to: s.id })
  expect((await stat(join(folder, 'd/a'))).mode & 0o777).toBe(0o600)
})

test('13.1 nothing outside is recorded when a folder is replaced by a link while git reads it', async () => {
  const root = await tempFolder()
  const outside = join(root, 'outside')
  const folder = join(root, 'folder')
  await write(outside, { secret: 'not for the agent' })
  await write(folder, { 'd/a': 'first', 'd/secret': 'a name' })
  // git knows that `d` is a folder once it has recorded `d/a`: from then on it does not look again.
  const first = execFileSync('git', ['hash-object', join(folder, 'd/a')], { encoding: 'utf8' }).trim()
  const object = `objects/${first.slice(0, 2)}/${first.slice(2)}`
  const program = join(root, 'git')
  await writeFile(
    program,
    `#!/bin/sh
case "$*" in *update-index*--add*) ;; *) exec git "$@" ;; esac
cat > ${root}/paths
{
  printf 'd/a\\0'
  until [ -e "$GIT_DIR/${object}" ]; do :; done
  mv ${folder}/d ${root}/aside; ln -s ${outside} ${folder}/d
  cat ${root}/paths
} | git "$@"
code=$?
rm ${folder}/d; mv ${root}/aside ${folder}/d
exit $code
`,
  )
  await chmod(program, 0o755)
  const { changes } = await subjectOn(folder, { home: join(root, 'home'), git: program })
  const start = await take(changes)
  await rm(join(folder, 'd'), { recursive: true })
  await changes.rewind({ session: 's', to: start.id })
  expect(await read(folder)).toEqual({ 'd/a': 'first', 'd/secret': 'a name' })
})

test('13.1 what git read of a folder is checked before it counts, also after the process was killed', async () => {
  const { folder, changes, home } = await subject()
  await write(folder, { 'd/a': '1' })
  const start = await take(changes)
  const [shadow = ''] = await readdir(join(home, 'checkpoints'))
  const inGit = join(home, 'checkpoints', shadow, 'git')
  const index = join(inGit, (await readdir(inGit)).find((name) => /^index-[0-9a-f]+$/.test(name)) ?? '')
  const secret = execFileSync('git', ['hash-object', '-w', '--stdin'], {
    input: 'secret',
    cwd: inGit,
    encoding: 'utf8',
  })
  const env = { ...process.env, GIT_DIR: inGit, GIT_INDEX_FILE: index }
  // An index that says that `d/a` has another content, and did not change since.
  for (const entry of [
    ['--cacheinfo', `100644,${secret.trim()},d/a`],
    ['--assume-unchanged', 'd/a'],
  ])
    execFileSync('git', ['update-index', ...entry], { cwd: folder, env })
  await writeFile(`${index}.unchecked`, '')
  const next = await take(await createChangeStore({ home }).open(folder))
  expect((await changes.changes(start.id, next.id)).files).toEqual([])
  expect(await readdir(inGit)).not.toContain(`${basename(index)}.unchecked`)
})

test('13.1 a folder that was moved away and back is noticed, others are trusted', async () => {
  const folder = await tempFolder()
  await write(folder, { 'd/e/a': '1', 'f/b': '1' })
  const now = Date.now() + 60_000
  const watch = await FolderWatch.begin({ workTree: folder, paths: ['d/e/a', 'f/b'], now })
  expect(await watch.suspects()).toEqual([])
  const { ctimeMs } = await stat(join(folder, 'd'))
  // The time of change has steps.
  while ((await stat(join(folder, 'd'))).ctimeMs === ctimeMs) {
    await rename(join(folder, 'd/e'), join(folder, 'd/g'))
    await rename(join(folder, 'd/g'), join(folder, 'd/e'))
  }
  expect(await watch.suspects()).toEqual(['d/e/a'])
  const fresh = await FolderWatch.begin({ workTree: folder, paths: ['f/b'], now: Date.now() })
  expect(await fresh.suspects()).toEqual(['f/b'])
})
