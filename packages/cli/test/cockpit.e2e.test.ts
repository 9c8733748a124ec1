import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, type Client } from '@agentproto/client'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'
import { ownAgent } from './own-agent.js'
import { stable } from './screen.js'
import { terminal } from './terminal.js'
import { needs } from '../../../tooling/needs.ts'

// The list of `sessions --watch` in a real terminal. The screen is stored in golden/; `-u` updates it.

const golden = (name: string): string => fileURLToPath(new URL(`golden/${name}.txt`, import.meta.url))

const git = (cwd: string, ...args: string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()

/** A repository with one commit on `main`, which is a workspace. */
function repository(parent: string, name: string): string {
  const path = join(parent, name)
  mkdirSync(path)
  git(path, 'init', '-q', '-b', 'main')
  writeFileSync(join(path, 'a.txt'), 'a\n')
  git(path, 'add', '-A')
  git(path, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'first')
  return path
}

/** A gateway, whose agents share one process: forty of their own would take longer to start than the test to run. */
async function gateway(): Promise<{ readonly home: string; readonly client: Client }> {
  const home = folder()
  await ownAgent(home, { isShared: true })
  expect(await cli(['adapters', 'install', 'own'], { home })).toMatchObject({ code: 0 })
  const { url } = await serve(home)
  const token = readFileSync(join(home, 'token'), 'utf8').trim()
  return { home, client: createClient({ url, token }) }
}

const REPOSITORIES = ['shop', 'blog', 'api', 'docs', 'infra']

/** Forty sessions over five repositories: three wait, one runs away, one has a diff, one has a worktree. */
async function forty(): Promise<{ readonly home: string; readonly repos: string; readonly client: Client }> {
  const { home, client } = await gateway()
  const repos = folder('repos')
  for (const name of REPOSITORIES) {
    const path = repository(repos, name)
    expect(await cli(['workspace', 'add', path, '--slug', name], { home })).toMatchObject({ code: 0 })
  }
  const start = (label: string, workspaceSlug: string, more: object = {}): Promise<unknown> =>
    client.sessions.start({ adapter: 'own', workspaceSlug, label, ...more })
  for (let index = 0; index < 34; index += 1)
    await start(`task-${index}`, REPOSITORIES[index % 5] ?? '', index < 8 ? { prompt: 'hang' } : {})
  await start('cart', 'shop', { prompt: 'ask cart.txt cart' })
  await start('posts', 'blog', { prompt: 'ask posts.txt posts' })
  await start('secrets', 'infra', { prompt: 'ask secrets.txt secrets' })
  await start('runaway', 'api', { prompt: 'stream 1; hang' })
  const diff = await client.sessions.start({ adapter: 'own', workspaceSlug: 'docs', label: 'guide' })
  const { turn } = await client.sessions.prompt(diff.id, { prompt: 'write guide.txt first step' })
  await client.sessions.waitTurn(diff.id, turn)
  const own = await client.sessions.start({
    adapter: 'own',
    workspaceSlug: 'api',
    label: 'login',
    worktree: { branch: 'fix/login', base: 'main' },
  })
  const written = await client.sessions.prompt(own.id, { prompt: 'write login.txt fixed' })
  await client.sessions.waitTurn(own.id, written.turn)
  return { home, repos, client }
}

test(
  '14.done forty sessions over five repositories are worked off from --watch alone',
  { ...needs('tmux', 'git'), timeout: 120_000 },
  async () => {
    const { home, repos, client } = await forty()
    const screen = terminal(['sessions', '--watch'], home, { columns: 100, rows: 24 })
    await screen.shows(/^3 need you · 9 working · 28 idle/m)

    // Finds the three that wait, and answers two of them.
    screen.press('Tab')
    const found = await screen.shows(
      /login +I wrote[\s\S]*guide +I wrote[\s\S]*runaway +chunk 1[\s\S]*❯ waiting +secrets +\? Write secrets[\s\S]*\? Write posts[\s\S]*\? Write cart/,
    )
    await expect(stable(found, home)).toMatchFileSnapshot(golden('cockpit'))
    screen.press('y')
    await screen.shows(/secrets\.txt[\s\S]*Press one key/)
    screen.press('n')
    await screen.shows(/2 need you/)
    screen.press('Tab')
    await screen.shows(/❯ waiting +posts/)
    screen.press('n')
    await screen.shows(/posts\.txt[\s\S]*Press one key/)
    screen.press('y')
    await screen.shows(/1 needs you/)
    screen.press('Tab')
    await screen.shows(/❯ waiting +cart/)
    screen.press('n')
    await screen.shows(/cart\.txt[\s\S]*Press one key/)
    screen.press('y')
    await screen.shows(/0 need you/)
    await expect
      .poll(() => ['shop/cart.txt', 'blog/posts.txt', 'infra/secrets.txt'].map((path) => existsSync(join(repos, path))))
      .toEqual([true, true, false])

    // Reads a diff.
    screen.press('/')
    screen.type('guide')
    screen.press('Enter')
    await screen.shows(/filter: guide/)
    await screen.shows(/❯ idle +guide/)
    screen.press('d')
    await screen.shows(/Changes of guide[\s\S]*\+first step/)
    screen.press('q')
    screen.press('Escape')

    // Interrupts a runaway.
    // An Escape that a key follows at once would be Alt with that key.
    await screen.shows(/^(?![\s\S]*filter: guide)[\s\S]*q quits/)
    screen.press('/')
    screen.type('runaway')
    screen.press('Enter')
    await screen.shows(/❯ busy +runaway/)
    screen.press('x')
    await screen.shows(/The turn of runaway was interrupted[\s\S]*8 working|8 working[\s\S]*interrupted/)

    // Merges a worktree.
    screen.press('/', 'C-u')
    screen.type('fix/login')
    screen.press('Enter')
    await screen.shows(/❯ idle +login/)
    screen.press('m')
    await screen.shows(/Merge the worktree of login\?[\s\S]*fix\/login[\s\S]*login\.txt[\s\S]*y merges/)
    screen.press('y')
    await screen.shows(/main has \d more commit/)
    expect(git(join(repos, 'api'), 'ls-files')).toContain('login.txt')
    expect(readFileSync(join(repos, 'api', 'login.txt'), 'utf8')).toBe('fixed\n')
    screen.press('q')
    await screen.shows(/exit code 0/)
    expect((await client.sessions.list({ onlyAlive: true })).sessions).toHaveLength(40)
  },
)
