import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { cli, type Ended, folder, serve } from './cli-process.js'

const git = (cwd: string, ...args: string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()

/** A gateway, and a repository with one commit on `main`. */
async function repository(): Promise<{ home: string; repo: string; run: (...args: string[]) => Promise<Ended> }> {
  const [home, repo] = [folder(), folder('repo')]
  git(repo, 'init', '-q', '-b', 'main')
  writeFileSync(join(repo, 'a.txt'), 'a\n')
  git(repo, 'add', '-A')
  git(repo, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'first')
  await serve(home)
  return { home, repo, run: (...args) => cli(args, { home }) }
}

test('13.7 a session starts in a worktree, is merged, and its worktree is discarded', needs('git'), async () => {
  const { repo, run } = await repository()
  const start = ['sessions', 'start', 'demo', '--cwd', repo, '--label', 'try']
  expect(await run(...start, '--base', 'main')).toMatchObject({ code: 2 })
  const started = await run(...start, '--worktree', 'fix/cart', '--base', 'main', '--json')
  const { worktree } = JSON.parse(started.stdout) as { worktree: { path: string; branch: string } }
  expect(worktree).toMatchObject({ branch: 'fix/cart', base: 'main', repository: repo })
  await run('sessions', 'prompt', 'try', 'write new.txt new', '--wait')
  expect((await run('sessions', 'show', 'try')).stdout).toContain('branch fix/cart from main')
  const merged = await run('sessions', 'merge', 'try', '--strategy', 'squash', '-m', 'Fix the cart')
  expect(merged).toMatchObject({
    code: 0,
    stderr: 'main has 1 more commit.\n',
    stdout: `${git(repo, 'rev-parse', 'main')}\n`,
  })
  expect(git(repo, 'log', '-1', '--format=%s')).toBe('Fix the cart')
  expect(readFileSync(join(repo, 'new.txt'), 'utf8')).toBe('new\n')
  expect((await run('sessions', 'discard', 'try')).stderr).toContain('A session runs in the worktree')
  await run('sessions', 'kill', 'try')
  expect(await run('sessions', 'discard', 'try', '--json')).toMatchObject({ code: 0 })
  expect([existsSync(worktree.path), git(repo, 'branch', '--list', 'fix/cart')]).toEqual([false, ''])
})

test('13.4 a worktree that outlives its session is named by rm and by the doctor', needs('git'), async () => {
  const { home, repo, run } = await repository()
  expect((await run('doctor')).stdout).toMatch(/worktrees +0 in use/)
  const started = await run('sessions', 'start', 'demo', '--cwd', repo, '--label', 'try', '--worktree', '--json')
  const { worktree } = JSON.parse(started.stdout) as { worktree: { path: string } }
  await run('sessions', 'prompt', 'try', 'write new.txt new', '--wait')
  expect((await run('doctor')).stdout).toMatch(/worktrees +1 in use/)
  expect(await run('sessions', 'rm', 'try')).toMatchObject({ code: 0, stderr: expect.stringContaining(worktree.path) })
  expect(existsSync(join(worktree.path, 'new.txt'))).toBe(true)
  const { stdout } = await run('doctor')
  expect(stdout).toContain('1 without a session')
  expect(stdout).toContain(worktree.path)
  mkdirSync(join(home, 'worktrees', 'empty'))
  expect((await run('doctor')).stdout).toContain('1 without a session')
})
