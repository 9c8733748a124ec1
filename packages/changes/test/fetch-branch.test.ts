import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorktrees } from '@agentproto/changes'
import { expect, test } from 'vitest'
import { fingerprint, git, tempFolder, write } from './folders.ts'

const worktrees = createWorktrees()

/** A bare remote, and two clones of it. */
async function clones(format = 'sha1') {
  const folder = await tempFolder()
  const [remote, one, two] = ['remote.git', 'one', 'two'].map((name) => join(folder, name)) as [string, string, string]
  git(folder, 'init', '-q', '--bare', `--object-format=${format}`, '-b', 'main', remote)
  await created(one, format)
  git(one, 'remote', 'add', 'origin', remote)
  git(one, 'push', '-q', 'origin', 'main')
  git(folder, 'clone', '-q', remote, two)
  return { folder, remote, one, two }
}

async function created(folder: string, format = 'sha1'): Promise<string> {
  await mkdir(folder)
  git(folder, 'init', '-q', `--object-format=${format}`, '-b', 'main')
  git(folder, 'config', 'user.name', 'Ada')
  git(folder, 'config', 'user.email', 'ada@example.com')
  return commit(folder, { 'a.txt': folder })
}

async function commit(folder: string, files: Record<string, string>): Promise<string> {
  await write(folder, files)
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'change')
  return git(folder, 'rev-parse', 'HEAD')
}

async function pushed(folder: string, branch: string): Promise<string> {
  git(folder, 'checkout', '-q', '-b', branch)
  const head = await commit(folder, { 'work.txt': branch })
  git(folder, 'push', '-q', 'origin', branch)
  git(folder, 'checkout', '-q', 'main')
  return head
}

test.each(['sha1', 'sha256'])(
  '17.6 a branch that a remote has is fetched, and a worktree can start from it; no branch of the repository changes (%s)',
  async (format) => {
    const { one, two } = await clones(format)
    const head = await pushed(one, 'agentproto/work')
    const before = git(two, 'for-each-ref')
    expect(await worktrees.fetch?.({ repository: two, branch: 'agentproto/work' })).toEqual({
      remote: 'origin',
      commit: head,
    })
    expect(git(two, 'for-each-ref')).toBe(before)
    const made = await worktrees.create({
      repository: two,
      at: join(two, '../tree'),
      branch: 'agentproto/work',
      base: head,
    })
    expect(git(made.path, 'log', '-1', '--format=%H')).toBe(head)
  },
)

test('17.6 a branch that no remote has is not found, and one of another name is not taken for it', async () => {
  const { one, two } = await clones()
  await pushed(one, 'deep/work')
  expect(await worktrees.fetch?.({ repository: two, branch: 'work' })).toBeUndefined()
  expect(await worktrees.fetch?.({ repository: two, branch: 'gone' })).toBeUndefined()
  await expect(worktrees.fetch?.({ repository: two, branch: '--upload-pack=x' })).rejects.toMatchObject({
    code: 'branch_invalid',
  })
})

test('17.6 a remote that cannot be asked is named without its password, and the next one is asked', async () => {
  const { one, two, remote } = await clones()
  const head = await pushed(one, 'work')
  git(two, 'remote', 'set-url', 'origin', 'https://ada:secret@127.0.0.1:1/x')
  const failing = worktrees.fetch?.({ repository: two, branch: 'work' })
  await expect(failing).rejects.toMatchObject({ code: 'git_failed' })
  await expect(failing).rejects.not.toThrow(/secret/)
  git(two, 'remote', 'add', 'second', remote)
  expect(await worktrees.fetch?.({ repository: two, branch: 'work' })).toEqual({ remote: 'second', commit: head })
})

test('17.6 the history of another repository is not fetched, and nothing of it gets into this one', async () => {
  const { folder, two } = await clones()
  const other = join(folder, 'private')
  await created(other)
  git(other, 'checkout', '-q', '-b', 'work')
  const head = await commit(other, { secret: 'of another repository' })
  git(two, 'remote', 'set-url', 'origin', other)
  expect(await worktrees.fetch?.({ repository: two, branch: 'work' })).toBeUndefined()
  expect(() => git(two, 'cat-file', '-e', head)).toThrow('Command failed')
})

test('17.6 no program that the configuration of the repository names is started for a fetch', async () => {
  const { folder, one, two } = await clones()
  const head = await pushed(one, 'work')
  const marker = join(folder, 'started')
  const program = join(folder, 'program')
  await writeFile(program, `#!/bin/sh\ntouch ${marker}\nexit 1\n`)
  await chmod(program, 0o755)
  for (const [key, value] of [
    ['core.sshCommand', program],
    ['core.fsmonitor', program],
    ['core.askPass', program],
    ['core.gitProxy', program],
    ['core.alternateRefsCommand', program],
    ['credential.helper', program],
    ['remote.origin.uploadpack', program],
    ['uploadpack.packObjectsHook', program],
    ['url.ext::sh.insteadOf', 'https'],
    ['remote.evil.url', `ext::${program}`],
    ['remote.evil2.url', `--upload-pack=${program}`],
    ['remote.evil3.url', `ssh://-oProxyCommand=${program}/x`],
  ] as const)
    git(two, 'config', key, value)
  for (const hook of ['post-checkout', 'reference-transaction', 'post-merge']) {
    await writeFile(join(two, '.git/hooks', hook), `#!/bin/sh\ntouch ${marker}\n`)
    await chmod(join(two, '.git/hooks', hook), 0o755)
  }
  expect(await worktrees.fetch?.({ repository: two, branch: 'work' })).toEqual({ remote: 'origin', commit: head })
  expect(existsSync(marker)).toBe(false)
})

test('17.6 a fetch changes no file of the repository but its objects', async () => {
  const { one, two } = await clones()
  await pushed(one, 'work')
  const before = await fingerprint(two)
  await worktrees.fetch?.({ repository: two, branch: 'work' })
  const after = await fingerprint(two)
  const changed = Object.keys(after).filter((path) => after[path] !== before[path] && !path.includes('/.git/objects'))
  expect(changed).toEqual([])
})
