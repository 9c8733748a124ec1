import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorktrees } from '@agentproto/changes'
import { type Clock, systemClock } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { git, read, tempFolder, write } from './folders.ts'

// An agent owns the folder that it works in, with its `.git`. The gateway runs git there with more rights than the agent has.

const worktrees = createWorktrees()

async function repository(at: string, files: Record<string, string> = { a: '1' }): Promise<string> {
  await mkdir(at)
  git(at, 'init', '-q', '-b', 'main')
  await write(at, files)
  git(at, 'add', '-A')
  git(at, 'commit', '-q', '-m', 'one')
  return at
}

test('13.4 no reflog is appended to a file outside, and its name is not one that the repository chose', async () => {
  const root = await tempFolder()
  const repo = await repository(join(root, 'repo'))
  git(repo, 'config', 'user.name', 'x; touch /tmp/ran; y')
  const one = await worktrees.create({ repository: repo, at: join(root, 'one'), branch: 'one' })
  await write(one.path, { b: '2' })
  const log = join(repo, '.git/logs/refs/heads/main')
  expect(await readFile(join(repo, '.git/logs/refs/heads/one'), 'utf8')).not.toContain('touch')
  const before = await readFile(log)
  await writeFile(join(root, 'profile'), 'own\n')
  await rm(log)
  await symlink(join(root, 'profile'), log)
  const merge = worktrees.merge(one, { strategy: 'merge', commitFirst: true })
  await expect(merge).rejects.toMatchObject({ code: 'repository_invalid' })
  expect(await readFile(join(root, 'profile'), 'utf8')).toBe('own\n')
  await rm(log)
  await writeFile(log, before)
  await worktrees.merge(one, { strategy: 'merge', commitFirst: true })
  expect(await readFile(log, 'utf8')).toMatch(/agentproto <agentproto@localhost> .*\tagentproto: merge\n$/)
})

test('13.4 a folder gets no worktree of a repository that is not its own', async () => {
  const root = await tempFolder()
  const secret = await repository(join(root, 'secret'), { secret: 's' })
  const before = git(secret, 'for-each-ref')
  const attack = async (name: string, prepare: (folder: string) => Promise<void>): Promise<void> => {
    const folder = await repository(join(root, name))
    await prepare(folder)
    const made = worktrees.create({ repository: folder, at: join(root, `${name}-worktree`), base: 'main' })
    await expect(made, name).rejects.toMatchObject({ code: 'repository_invalid' })
  }
  const replace = async (path: string, target: string): Promise<void> => {
    await rm(path, { recursive: true, force: true })
    await symlink(target, path)
  }
  await attack('file', async (folder) => {
    await rm(join(folder, '.git'), { recursive: true })
    await writeFile(join(folder, '.git'), `gitdir: ${secret}/.git\n`)
  })
  await attack('link', (folder) => replace(join(folder, '.git'), join(secret, '.git')))
  await attack('commondir', (folder) => writeFile(join(folder, '.git/commondir'), `${secret}/.git\n`))
  await attack('worktree', async (folder) => {
    await mkdir(join(folder, 'x/worktrees/y'), { recursive: true })
    await writeFile(join(folder, 'x/worktrees/y/gitdir'), join(folder, '.git'))
    await writeFile(join(folder, 'x/worktrees/y/commondir'), `${secret}/.git`)
    await rm(join(folder, '.git'), { recursive: true })
    await writeFile(join(folder, '.git'), `gitdir: ${folder}/x/worktrees/y\n`)
  })
  for (const name of ['refs', 'refs/heads', 'refs/heads/main', 'objects', 'HEAD', 'logs', 'packed-refs'])
    await attack(name.replaceAll('/', '-'), (folder) => replace(join(folder, '.git', name), join(secret, '.git', name)))
  expect(git(secret, 'for-each-ref')).toBe(before)
})

test('13.4 the folders of submodules, linked worktrees and bare repositories are their own', async () => {
  const root = await tempFolder()
  const library = await repository(join(root, 'library'), { code: 'c' })
  const repo = await repository(join(root, 'repo'))
  git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
  git(repo, 'worktree', 'add', '-q', '../linked')
  git(repo, 'clone', '-q', '--bare', repo, '../bare.git')
  for (const [name, expected] of [
    ['repo/lib', { code: 'c' }],
    ['linked', { a: '1' }],
    ['bare.git', { a: '1' }],
  ] as const) {
    const made = await worktrees.create({
      repository: join(root, name),
      at: join(root, name.replace('/', '-'), '../new'),
    })
    expect(await read(made.path), name).toEqual(expected)
    await worktrees.discard(made)
  }
  await rename(join(root, 'linked'), join(root, 'moved'))
  git(join(root, 'moved'), 'worktree', 'repair')
  await worktrees.create({ repository: join(root, 'moved'), at: join(root, 'last') })
})

test('13.4 a pipe in one repository delays no other, and a merge into it ends', async () => {
  // What a call that writes may take, ten minutes, is over soon.
  const after: Clock['after'] = (ms, run) => systemClock.after(ms === 600_000 ? 1_500 : ms, run)
  const clock: Clock = { now: () => systemClock.now(), after }
  const own = createWorktrees({ clock })
  const root = await tempFolder()
  const [repo, other] = [await repository(join(root, 'repo')), await repository(join(root, 'other'))]
  const one = await own.create({ repository: repo, at: join(root, 'one'), branch: 'one' })
  await write(one.path, { b: '2' })
  execFileSync('mkfifo', [join(repo, '.gitattributes')])
  const ended: string[] = []
  const [merge] = await Promise.allSettled([
    own.merge(one, { strategy: 'merge', commitFirst: true }).finally(() => ended.push('merge')),
    own.create({ repository: other, at: join(root, 'two') }).finally(() => ended.push('other')),
  ])
  expect(merge).toMatchObject({ status: 'rejected', reason: { code: 'timeout' } })
  expect(ended).toEqual(['other', 'merge'])
  expect(git(repo, 'rev-parse', 'main')).toBe(one.baseCommit)
})
