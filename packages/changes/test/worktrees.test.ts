import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorktrees } from '@agentproto/changes'
import type { Worktree } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { fingerprint, git, read, subjectOn, take, tempFolder, write } from './folders.ts'

const worktrees = createWorktrees()

async function repository(files: Record<string, string> = { 'a.txt': 'a\n', 'b.txt': 'b\n' }): Promise<string> {
  const folder = join(await tempFolder(), 'repo')
  await mkdir(folder)
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'config', 'user.name', 'Ada')
  git(folder, 'config', 'user.email', 'ada@example.com')
  await commit(folder, files)
  return folder
}

async function commit(folder: string, files: Record<string, string>): Promise<string> {
  await write(folder, files)
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', `change ${Object.keys(files).join(' ')}`)
  return git(folder, 'rev-parse', 'HEAD')
}

async function worktree(repo: string, name = 'one', request: object = {}): Promise<Worktree> {
  return worktrees.create({ repository: repo, at: join(repo, '..', name), branch: name, ...request })
}

test('13.4 a worktree has the files of the base, on a branch of its own', async () => {
  const repo = await repository({ 'a.txt': 'a\n', run: '#!/bin/sh\n', l: '-> a.txt' })
  await write(repo, { 'a.txt': 'not committed\n' })
  const index = await fingerprint(repo)
  const { path, ...rest } = await worktree(repo)
  const head = git(repo, 'rev-parse', 'HEAD')
  expect(rest).toEqual({ branch: 'one', ownBranch: true, base: 'main', baseCommit: head, repository: repo })
  expect(await read(path)).toEqual({ 'a.txt': 'a\n', run: 'x #!/bin/sh\n', l: '-> a.txt' })
  expect(git(path, 'status', '--porcelain', '--branch')).toBe('## one')
  const after = await fingerprint(repo)
  for (const name of ['a.txt', '.git/index', '.git/config', '.git/HEAD'])
    expect(after[join(repo, name)]).toBe(index[join(repo, name)])
  expect(await worktrees.status({ path, ...rest })).toEqual({
    exists: true,
    dirty: [],
    dirtyCount: 0,
    ahead: 0,
    behind: 0,
    merged: true,
  })
})

test('13.4 a worktree from a bare repository, a folder below, an existing branch and a commit', async () => {
  const repo = await repository({ 'sub/a': '1' })
  const first = git(repo, 'rev-parse', 'HEAD')
  git(repo, 'branch', 'old')
  await commit(repo, { 'sub/a': '2' })
  const old = await worktrees.create({ repository: join(repo, 'sub'), at: join(repo, '../old'), branch: 'old' })
  expect(old).toMatchObject({ branch: 'old', ownBranch: false, base: 'main', baseCommit: first })
  const at = await worktree(repo, 'at', { base: first })
  expect(at).toMatchObject({ base: first, baseCommit: first })
  const random = await worktrees.create({ repository: repo, at: join(repo, '../random') })
  expect(random.branch).toMatch(/^agentproto\/\w+$/)
  git(repo, 'clone', '-q', '--bare', repo, '../bare.git')
  const bare = await worktree(join(repo, '../bare.git'), 'frombare')
  expect(await read(bare.path)).toEqual({ 'sub/a': '2' })
  await worktrees.discard(old)
  expect(git(repo, 'branch', '--list', 'old')).toContain('old')
})

test('13.4 what cannot be created is refused with a reason, and leaves nothing', async () => {
  const repo = await repository()
  const empty = await tempFolder()
  git(empty, 'init', '-q')
  const at = join(repo, '../new')
  const refused = async (request: object, code: string): Promise<void> => {
    await expect(worktrees.create({ repository: repo, at, ...request }), JSON.stringify(request)).rejects.toMatchObject(
      { code },
    )
  }
  await refused({ repository: await tempFolder() }, 'repository_invalid')
  await refused({ repository: empty }, 'repository_invalid')
  await refused({ branch: 'main' }, 'branch_invalid')
  for (const branch of ['-x', 'a b', 'a..b', '', 'HEAD', '@', 'x.lock', 'a\0b'])
    await refused({ branch }, 'branch_invalid')
  await refused({ base: 'nothing' }, 'branch_invalid')
  await refused({ base: '--exec=x' }, 'branch_invalid')
  await refused({ at: repo }, 'path_invalid')
  await refused({ at: 'relative' }, 'path_invalid')
  await refused({ at: join(repo, '..', 'x'.repeat(300)), branch: 'long' }, 'path_invalid')
  await refused({ at: join(repo, 'a.txt/x'), branch: 'below' }, 'path_invalid')
  expect(existsSync(at)).toBe(false)
  expect(git(repo, 'branch', '--list').split('\n')).toHaveLength(1)
})

test('13.4 what is planned is reported before anything of it is there, and nothing is created where that fails', async () => {
  const repo = await repository()
  const plans: Worktree[] = []
  const onPlanned = async (planned: Worktree): Promise<void> => {
    plans.push(planned)
    expect(existsSync(planned.path)).toBe(false)
    expect(git(repo, 'branch', '--list', planned.branch)).toBe('')
  }
  const made = await worktree(repo, 'one', { onPlanned })
  expect(plans).toEqual([made])
  await expect(worktree(repo, 'one', { branch: 'other', onPlanned })).rejects.toMatchObject({ code: 'path_invalid' })
  expect(plans).toEqual([made])
  const refused = { onPlanned: () => Promise.reject(new Error('The disk is full')) }
  await expect(worktree(repo, 'two', refused)).rejects.toThrow('The disk is full')
  expect(existsSync(join(repo, '..', 'two'))).toBe(false)
  expect(git(repo, 'branch', '--list', 'two')).toBe('')
})

test('13.4 a worktree whose files cannot be written is removed again', async () => {
  const repo = await repository()
  const blob = git(repo, 'rev-parse', 'HEAD:a.txt')
  await rm(join(repo, '.git/objects', blob.slice(0, 2), blob.slice(2)))
  const at = join(repo, '../broken')
  await expect(worktrees.create({ repository: repo, at, branch: 'broken' })).rejects.toMatchObject({
    code: 'git_failed',
  })
  expect(existsSync(at)).toBe(false)
  expect(git(repo, 'branch', '--list', 'broken')).toBe('')
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
})

test('13.4 status counts changed, staged and unknown files, and commits', async () => {
  const repo = await repository({ a: '1\n', b: '1\n', '.gitignore': 'ignored\n' })
  const tree = await worktree(repo)
  await commit(tree.path, { c: '1\n' })
  await commit(repo, { d: '1\n' })
  await write(tree.path, { a: '2\n', staged: 's', 'new\nline': 'n', ignored: 'i' })
  git(tree.path, 'add', 'staged')
  await rm(join(tree.path, 'b'))
  expect(await worktrees.status(tree)).toEqual({
    exists: true,
    dirty: ['a', 'b', 'new\nline', 'staged'],
    dirtyCount: 4,
    ahead: 1,
    behind: 1,
    merged: false,
  })
  await rm(tree.path, { recursive: true })
  expect(await worktrees.status(tree)).toMatchObject({ exists: false, ahead: 1, dirty: [] })
})

test.each(['merge', 'squash', 'rebase'] as const)('13.4 %s with a git that cannot merge trees', async (strategy) => {
  const wrapper = join(await tempFolder(), 'git')
  await writeFile(
    wrapper,
    '#!/bin/sh\ncase "$*" in *" version"|version) echo git version 2.34.1; exit;; *merge-tree*|*" -z"*worktree*) exit 129;; esac\nexec git "$@"\n',
  )
  await chmod(wrapper, 0o755)
  const old = createWorktrees({ git: wrapper })
  const lines = (first: string, last: string): string => `${first}\n${'same\n'.repeat(20)}${last}\n`
  const repo = await repository({ 'both.txt': lines('a', 'z'), run: 'r\n', 'gone.txt': 'g\n', 'b.txt': 'b\n' })
  const tree = await old.create({ repository: repo, at: join(repo, '../old'), branch: 'old' })
  await commit(tree.path, { 'both.txt': lines('A', 'z'), 'new\nname': 'n\n', run: '#!/bin/sh\n' })
  await rm(join(tree.path, 'gone.txt'))
  await commit(tree.path, {})
  await commit(repo, { 'both.txt': lines('a', 'Z'), 'b.txt': 'changed\n' })
  expect(await old.merge(tree, { strategy })).toMatchObject({ commits: { merge: 3, squash: 1, rebase: 2 }[strategy] })
  const merged = { 'both.txt': lines('A', 'Z'), 'b.txt': 'changed\n', 'new\nname': 'n\n', run: 'x #!/bin/sh\n' }
  expect(await read(repo)).toEqual(merged)
  expect(await old.status(tree)).toMatchObject({ merged: true })
  await commit(tree.path, { 'b.txt': 'mine\n' })
  const conflict = old.merge(tree, { strategy })
  await expect(conflict).rejects.toMatchObject({ code: 'merge_conflict', parts: { data: { files: ['b.txt'] } } })
  expect(await read(repo)).toEqual(merged)
})

test.each(['merge', 'squash', 'rebase'] as const)('13.4 %s moves the base and its clean checkout', async (strategy) => {
  const repo = await repository()
  const tree = await worktree(repo)
  await commit(tree.path, { 'c.txt': 'c1\n' })
  await commit(tree.path, { 'c.txt': 'c2\n', 'a.txt': 'a changed\n' })
  await commit(repo, { 'b.txt': 'b changed\n' })
  await write(repo, { 'b.txt': 'not committed\n', 'unknown.txt': 'u\n' })
  const result = await worktrees.merge(tree, { strategy, message: 'the work' })
  expect(result).toMatchObject({ into: 'main', commits: { merge: 3, squash: 1, rebase: 2 }[strategy] })
  expect(git(repo, 'rev-parse', 'main')).toBe(result.commit)
  expect(await read(repo)).toEqual({
    'a.txt': 'a changed\n',
    'b.txt': 'not committed\n',
    'c.txt': 'c2\n',
    'unknown.txt': 'u\n',
  })
  expect(
    git(repo, 'status', '--porcelain')
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual(['M b.txt', '?? unknown.txt'])
  const subjects = git(repo, 'log', '--format=%s|%an', '-1', 'main')
  expect(subjects).toBe(strategy === 'rebase' ? 'change c.txt a.txt|A' : 'the work|Ada')
  git(repo, 'fsck', '--strict')
  expect(await worktrees.status(tree)).toMatchObject({ merged: true })
  expect(await worktrees.merge(tree, { strategy: 'squash' })).toMatchObject({ commits: 0, commit: result.commit })
  await worktrees.discard(tree)
  expect(existsSync(tree.path)).toBe(false)
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(git(repo, 'branch', '--list', 'one')).toBe('')
})

test.each(['merge', 'squash', 'rebase'] as const)(
  '13.4 %s with a conflict is refused, with its files, and changes nothing',
  async (strategy) => {
    const repo = await repository()
    const tree = await worktree(repo)
    await commit(tree.path, { 'c.txt': 'fine\n' })
    await commit(tree.path, { 'a.txt': 'theirs\n' })
    await write(tree.path, { 'b.txt': 'not committed\n' })
    await commit(repo, { 'a.txt': 'ours\n' })
    const before = [
      await read(repo),
      await read(tree.path),
      git(repo, 'for-each-ref'),
      git(tree.path, 'status', '--porcelain'),
    ]
    const merging = worktrees.merge(tree, { strategy, commitFirst: true })
    await expect(merging).rejects.toMatchObject({ code: 'merge_conflict', parts: { data: { files: ['a.txt'] } } })
    expect([
      await read(repo),
      await read(tree.path),
      git(repo, 'for-each-ref'),
      git(tree.path, 'status', '--porcelain'),
    ]).toEqual(before)
  },
)

test('13.4 uncommitted work is refused, or committed first where that is asked for', async () => {
  const repo = await repository()
  const tree = await worktree(repo)
  await write(tree.path, { 'a.txt': 'work\n', 'new.txt': 'n\n' })
  await rm(join(tree.path, 'b.txt'))
  await expect(worktrees.merge(tree, { strategy: 'merge' })).rejects.toMatchObject({ code: 'worktree_unsaved' })
  await worktrees.merge(tree, { strategy: 'squash', message: 'all of it', commitFirst: true })
  expect(await read(repo)).toEqual({ 'a.txt': 'work\n', 'new.txt': 'n\n' })
  expect(git(tree.path, 'status', '--porcelain')).toBe('')
  expect(git(repo, 'status', '--porcelain')).toBe('')
  await worktrees.discard(tree)
})

test('13.4 a checkout of the target with changes in the same files is refused and stays as it is', async () => {
  const repo = await repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'built\n' })
  const tree = await worktree(repo)
  await commit(tree.path, { 'a.txt': 'theirs\n' })
  let dirty = ['a.txt']
  const refused = async (): Promise<void> => {
    const before = [await read(repo), git(repo, 'for-each-ref')]
    await expect(worktrees.merge(tree, { strategy: 'merge' })).rejects.toMatchObject({
      code: 'checkout_dirty',
      parts: { data: { files: dirty } },
    })
    expect([await read(repo), git(repo, 'for-each-ref')]).toEqual(before)
  }
  await write(repo, { 'a.txt': 'mine\n' })
  await refused()
  git(repo, 'add', 'a.txt')
  await refused()
  git(repo, 'reset', '-q', '--hard')
  await write(tree.path, { built: 'b\n' })
  git(tree.path, 'add', '-f', 'built')
  git(tree.path, 'commit', '-q', '-m', 'built')
  await write(repo, { built: 'mine, ignored\n' })
  dirty = ['built']
  await refused()
  await rm(join(repo, 'built'))
  git(repo, 'checkout', '-q', '-b', 'elsewhere')
  await write(repo, { 'a.txt': 'mine\n' })
  const { commit: merged } = await worktrees.merge(tree, { strategy: 'merge' })
  expect(git(repo, 'rev-parse', 'main')).toBe(merged)
  expect(await read(repo)).toMatchObject({ 'a.txt': 'mine\n' })
})

test('13.4 nothing dirty or unmerged is discarded without force', async () => {
  const repo = await repository()
  const tree = await worktree(repo)
  const refused = async (): Promise<void> => {
    await expect(worktrees.discard(tree)).rejects.toMatchObject({ code: 'worktree_unsaved' })
    expect(existsSync(tree.path)).toBe(true)
  }
  await write(tree.path, { unknown: 'u' })
  await refused()
  await commit(tree.path, { c: 'c' })
  await refused()
  await worktrees.merge(tree, { strategy: 'merge' })
  git(tree.path, 'checkout', '-q', '--detach')
  await commit(tree.path, { d: 'd' })
  await refused()
  git(tree.path, 'checkout', '-q', 'one')
  git(tree.path, 'init', '-q', 'nested')
  await writeFile(join(tree.path, 'nested/x'), 'x')
  await refused()
  await worktrees.discard(tree, { force: true })
  expect(existsSync(tree.path)).toBe(false)
  await worktrees.discard(tree, { force: true })
})

test('13.4 an abort while a merge writes, and a branch that was moved meanwhile, leave nothing half done', async () => {
  const repo = await repository()
  const tree = await worktree(repo)
  await commit(tree.path, { 'a.txt': 'work\n' })
  const places = await tempFolder()
  const [reached, go, wrapper] = [join(places, 'reached'), join(places, 'go'), join(places, 'git')]
  execFileSync('mkfifo', [reached, go])
  await writeFile(
    wrapper,
    `#!/bin/sh\ncase "$*" in *update-ref*agentproto*) echo > ${reached}; read answer < ${go}; [ "$answer" = go ] || exit 1;; esac\nexec git "$@"\n`,
  )
  await chmod(wrapper, 0o755)
  const slow = createWorktrees({ git: wrapper })
  const before = [await read(repo), git(repo, 'for-each-ref'), git(repo, 'status', '--porcelain')]
  const failing = slow.merge(tree, { strategy: 'merge' })
  await readFile(reached)
  expect(await read(repo)).toMatchObject({ 'a.txt': 'work\n' })
  await writeFile(go, 'fail\n')
  await expect(failing).rejects.toMatchObject({ code: 'git_failed' })
  expect([await read(repo), git(repo, 'for-each-ref'), git(repo, 'status', '--porcelain')]).toEqual(before)
  const controller = new AbortController()
  const merging = slow.merge(tree, { strategy: 'merge', signal: controller.signal })
  await readFile(reached)
  controller.abort()
  await writeFile(go, 'go\n')
  expect(await merging).toMatchObject({ commits: 2 })
  expect(git(repo, 'status', '--porcelain')).toBe('')
})

test('13.4 two worktrees of one repository work at once and both merge', async () => {
  const repo = await repository()
  const [one, two] = await Promise.all([worktree(repo, 'one'), worktree(repo, 'two')])
  await commit(one.path, { 'a.txt': 'one\n' })
  await commit(two.path, { 'b.txt': 'two\n' })
  await Promise.all([worktrees.merge(one, { strategy: 'merge' }), worktrees.merge(two, { strategy: 'squash' })])
  expect(await read(repo)).toEqual({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  await Promise.all([worktrees.discard(one), worktrees.discard(two)])
  expect(git(repo, 'status', '--porcelain')).toBe('')
})

test('13.4 hooks, filters and monitors of the repository are never started', async () => {
  const repo = await repository({ '.gitattributes': '*.dat filter=trap\n', 'x.dat': 'x\n', 'a.txt': 'a\n' })
  const trap = join(await tempFolder(), 'trap')
  const ran = `${trap}.ran`
  await writeFile(trap, `#!/bin/sh\ntouch ${ran}\ncat\n`)
  await chmod(trap, 0o755)
  const names = [
    'core.fsmonitor',
    'filter.trap.clean',
    'filter.trap.smudge',
    'filter.trap.process',
    'core.sshCommand',
    'gpg.program',
    'merge.trap.driver',
  ]
  for (const name of names) git(repo, 'config', name, trap)
  git(repo, 'config', 'commit.gpgSign', 'true')
  const hooks = [
    'post-checkout',
    'reference-transaction',
    'pre-commit',
    'post-commit',
    'post-merge',
    'pre-merge-commit',
    'post-index-change',
    'post-rewrite',
  ]
  for (const hook of hooks) await write(repo, { [`.git/hooks/${hook}`]: `#!/bin/sh\ntouch ${ran}\n` })
  const tree = await worktree(repo)
  await write(tree.path, { 'a.txt': 'work\n' })
  await worktrees.status(tree)
  await worktrees.merge(tree, { strategy: 'merge', commitFirst: true })
  await write(tree.path, { 'x.dat': 'y\n' })
  const filtered = worktrees.merge(tree, { strategy: 'merge', commitFirst: true })
  await expect(filtered).rejects.toMatchObject({ code: 'checkout_dirty', parts: { data: { files: ['x.dat'] } } })
  await worktrees.discard(tree, { force: true })
  expect(existsSync(ran)).toBe(false)
  expect(await read(repo)).toMatchObject({ 'a.txt': 'work\n', 'x.dat': 'x\n' })
})

test('13.4 a worktree whose files were pointed at another repository is refused', async () => {
  const [repo, other] = [await repository(), await repository()]
  const tree = await worktree(repo)
  await writeFile(join(tree.path, '.git'), `gitdir: ${other}/.git\n`)
  await expect(worktrees.discard(tree)).rejects.toMatchObject({ code: 'repository_invalid' })
  await expect(worktrees.discard({ ...tree, path: other }, { force: true })).rejects.toMatchObject({
    code: 'repository_invalid',
  })
  expect(existsSync(join(other, 'a.txt'))).toBe(true)
})

test('13.4 a merge during a rebase in the worktree, or in the checkout of the target, is refused', async () => {
  const repo = await repository()
  const tree = await worktree(repo)
  await commit(tree.path, { 'a.txt': 'one\n' })
  await commit(repo, { 'a.txt': 'main\n' })
  expect(() => git(tree.path, 'rebase', 'main')).toThrow('could not apply')
  await expect(worktrees.merge(tree, { strategy: 'merge' })).rejects.toMatchObject({ code: 'worktree_unsaved' })
  await expect(worktrees.discard(tree)).rejects.toMatchObject({ code: 'worktree_unsaved' })
  git(tree.path, 'rebase', '--abort')
  await expect(worktrees.merge(tree, { strategy: 'merge', into: 'nowhere' })).rejects.toMatchObject({
    code: 'branch_invalid',
  })
})

test('13.4 a repository with SHA-256 and paths with spaces and newlines', async () => {
  const root = await tempFolder()
  const repo = join(root, 'r r')
  await mkdir(repo)
  git(repo, 'init', '-q', '-b', 'main', '--object-format=sha256')
  await write(repo, { a: '1\n' })
  git(repo, 'add', '-A')
  git(repo, 'commit', '-q', '-m', 'x')
  const w = createWorktrees()
  const t = await w.create({ repository: repo, at: join(root, 'w w\nx') })
  await write(t.path, { b: '1\n' })
  await w.merge(t, { strategy: 'rebase', commitFirst: true })
  expect(await read(repo)).toEqual({ a: '1\n', b: '1\n' })
  await w.discard(t)
  const { changes } = await subjectOn(repo, { home: join(root, 'h') })
  await take(changes)
})

test('13.4 a configuration that blocks is no obstacle for a checkpoint, and ends a worktree at its time limit', async () => {
  const root = await tempFolder()
  const repo = join(root, 'r')
  await mkdir(repo)
  git(repo, 'init', '-q')
  await write(repo, { a: '1' })
  git(repo, 'add', '-A')
  git(repo, 'commit', '-q', '-m', 'x')
  await rm(join(repo, '.git/config'))
  execFileSync('mkfifo', [join(repo, '.git/config')])
  const { changes } = await subjectOn(repo, { home: join(root, 'h') })
  await take(changes)
  const create = () => createWorktrees({ timeMs: 1500 }).create({ repository: repo, at: join(root, 'w') })
  await expect(create()).rejects.toMatchObject({ code: 'repository_invalid' })
  await rm(join(repo, '.git/config'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  await writeFile(join(repo, '.git/config'), `[include]\n\tpath = ${root}/pipe\n`)
  await expect(create()).rejects.toMatchObject({ code: 'timeout' })
})
