import { lstat, mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPreparation } from '@agentproto/changes'
import type { StoredWorktree } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { copyFiles } from '../src/preparation/copy-files.ts'
import { read, tempFolder, write } from './folders.ts'

interface Prepared {
  readonly worktree: string
  readonly lines: readonly string[]
  readonly code?: string
}

/** Prepares a worktree of a repository with these files. */
async function prepared(
  files: Record<string, string>,
  { setupMs = 10_000, abort = false }: { readonly setupMs?: number; readonly abort?: boolean } = {},
): Promise<Prepared> {
  const [repository, path] = [await tempFolder(), await tempFolder()]
  await write(repository, files)
  const lines: string[] = []
  const controller = new AbortController()
  const prepare = createPreparation({
    isTrusted: async () => true,
    env: { ...process.env, MY_API_KEY: 'secret' },
    setupMs,
  })
  const worktree: StoredWorktree = {
    path,
    repository,
    folder: repository,
    branch: 'b',
    ownBranch: true,
    base: 'main',
    baseCommit: '',
    commonDir: join(repository, '.git'),
    gitDir: join(repository, '.git/worktrees/b'),
  }
  const report = (line: string): void => {
    lines.push(line)
    if (abort && line.startsWith('started')) controller.abort()
  }
  const work = prepare(worktree, { sessionId: 's_00000000', signal: controller.signal, report })
  const code = await work.then(
    () => undefined,
    (thrown: { code?: string }) => thrown.code,
  )
  return { worktree: path, lines, ...(code === undefined ? {} : { code }) }
}

const settings = (content: object): string => JSON.stringify(content)

test('13.4 patterns stay in their folder: names with *, hidden files, no links, and nothing is replaced', async () => {
  const [from, to, outside] = [await tempFolder(), await tempFolder(), await tempFolder()]
  await write(outside, { secret: 'secret' })
  await write(from, {
    '.env': '1',
    '.env.a': '2',
    env: '3',
    'config/a.local': '4',
    'config/b.txt': '5',
    there: 'new',
    l: `-> ${outside}/secret`,
  })
  await symlink(outside, join(from, 'out'))
  await write(to, { there: 'old' })
  await symlink(outside, join(to, 'config2'))
  await write(from, { 'config2/x': 'x' })
  const copied = await copyFiles(['.env*', 'config/*.local', 'there', 'l', 'out/secret', 'out/*', '*/none', 'config'], {
    from,
    to,
  })
  expect(copied.toSorted()).toEqual(['.env', '.env.a', 'config/a.local'])
  expect(await read(to)).toMatchObject({ there: 'old', '.env': '1', 'config/a.local': '4' })
  // A link in the worktree, which the branch may have, leads nowhere.
  await expect(copyFiles(['config2/x'], { from, to })).rejects.toThrow()
  expect(await read(outside)).toEqual({ secret: 'secret' })
})

test('13.4 too many files and too large ones are refused', async () => {
  const [from, to] = [await tempFolder(), await tempFolder()]
  for (let at = 0; at <= 1_000; at++) await writeFile(join(from, `f${at}`), '')
  await expect(copyFiles(['f*'], { from, to })).rejects.toMatchObject({ code: 'worktree_setup_failed' })
  await writeFile(join(from, 'large'), Buffer.alloc((10 << 20) + 1))
  await expect(copyFiles(['large'], { from, to })).rejects.toMatchObject({ code: 'worktree_setup_failed' })
  expect(await read(to)).toEqual({})
})

test('13.4 the setup runs without a shell and without credentials; its output is bounded', async () => {
  const script = 'for (let i = 0; i < 300; i++) console.log(i); console.error(process.env.MY_API_KEY ?? "none")'
  const { lines, code } = await prepared({
    '.agentproto/worktree.json': settings({ setup: ['node', '-e', script, '; touch x'] }),
  })
  expect(code).toBeUndefined()
  expect(lines).toHaveLength(202)
  expect(lines.at(-1)).toBe('101 more lines are left out')
  expect(lines).not.toContain('secret')
})

test('13.4 a setup that takes too long, or whose start is cancelled, is ended with what it started', async () => {
  const script =
    "require('node:child_process').spawn('sleep', ['60']); console.log('started'); setInterval(() => {}, 1000)"
  const file = { '.agentproto/worktree.json': settings({ setup: ['node', '-e', script] }) }
  expect((await prepared(file, { setupMs: 1_500 })).code).toBe('worktree_setup_failed')
  expect((await prepared(file, { abort: true })).code).toBe('cancelled')
})

test('13.4 a program that is missing or fails is named, and settings behind a link are refused', async () => {
  for (const setup of [['no-such-program'], ['./no/such'], ['sh', '-c', 'exit 3']])
    expect((await prepared({ '.agentproto/worktree.json': settings({ setup }) })).code).toBe('worktree_setup_failed')
  const linked = { 'other.json': settings({ copy: ['a'] }), '.agentproto/worktree.json': '-> ../other.json' }
  expect((await prepared(linked)).code).toBe('worktree_setup_failed')
  expect((await prepared({ '.agentproto/worktree.json': '{' })).code).toBe('worktree_setup_failed')
  expect(await prepared({})).toMatchObject({ lines: [] })
})

test('13.4 a folder that is swapped for a link while files are copied leads nowhere', async () => {
  const [from, to, outside] = [await tempFolder(), await tempFolder(), await tempFolder()]
  await write(outside, { x: 'secret' })
  await write(from, { 'd/x': 'x' })
  await symlink(outside, join(from, 'link'))
  let going = true
  const swapping = (async () => {
    while (going) {
      await rename(join(from, 'd'), join(from, 'kept'))
      await rename(join(from, 'link'), join(from, 'd'))
      await rename(join(from, 'd'), join(from, 'link'))
      await rename(join(from, 'kept'), join(from, 'd'))
    }
  })()
  for (let at = 0; at < 100; at++) {
    const into = join(to, String(at))
    await mkdir(into)
    await copyFiles(['d/x', 'd/*'], { from, to: into })
    const made = await lstat(join(into, 'd')).catch(() => undefined)
    expect(made?.isSymbolicLink() ?? false).toBe(false)
    for (const content of Object.values(await read(into))) expect(content).toBe('x')
  }
  going = false
  await swapping
})
