import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, type Client } from '@agentproto/client'
import { expect, test } from 'vitest'
import { SIZES } from './attach-driver.js'
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
  // None works in api: a branch is not merged into a checkout that another session works in.
  for (let index = 0; index < 34; index += 1)
    await start(`task-${index}`, REPOSITORIES[index % 5] ?? '', index < 10 && index % 5 !== 2 ? { prompt: 'hang' } : {})
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
    await filter(screen, 'guide')
    await screen.shows(/filter: guide/)
    await screen.shows(/❯ idle +guide/)
    screen.press('d')
    await screen.shows(/Changes of guide[\s\S]*\+first step/)
    screen.press('q')
    screen.press('Escape')

    // Interrupts a runaway.
    // An Escape that a key follows at once would be Alt with that key.
    await screen.shows(/^(?![\s\S]*filter: guide)[\s\S]*q quits/)
    await filter(screen, 'runaway')
    await screen.shows(/❯ busy +runaway/)
    screen.press('x')
    await screen.shows(/The turn of runaway was interrupted[\s\S]*8 working|8 working[\s\S]*interrupted/)

    // Merges a worktree.
    // Keys that come in one read are a paste, which is no command.
    await filter(screen, 'fix/login')
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

test(
  '14.2.1 Enter attaches and comes back to the same place; K kills; a prompt is sent',
  { ...needs('tmux'), timeout: 120_000 },
  async () => {
    const { home, client } = await gateway()
    for (const label of ['one', 'two', 'three']) await client.sessions.start({ adapter: 'own', cwd: home, label })
    const screen = terminal(['sessions', '--watch'], home, { columns: 80, rows: 24 })
    await screen.shows(/^0 need you · 0 working · 3 idle[\s\S]*❯ idle +three[\s\S]*idle +one/m)
    screen.press('j')
    await screen.shows(/❯ idle +two/)
    screen.press('Enter')
    await screen.shows(/^two · own · .*idle/m)
    screen.type('/detach')
    screen.press('Enter')
    await screen.shows(/❯ idle +two[\s\S]*q quits/)
    screen.press('p')
    // Text that comes in one read with the key is a paste, which opens nothing.
    await screen.shows(/Prompt to two ❯/)
    screen.type('stream 1; hang')
    await screen.shows(/Prompt to two ❯ stream 1; hang/)
    screen.press('Enter')
    await screen.shows(/Sent to two: turn 1/)
    await screen.shows(/1 working[\s\S]*❯ busy +two +chunk 1/)
    screen.press('K')
    await screen.shows(/\? Kill two with all its processes\?[\s\S]*Its running turn ends[\s\S]*y kills/)
    screen.press('y')
    await screen.shows(/two was killed/)
    await screen.shows(/❯ ended +two +a person ended it/)
    screen.resize(120, 40)
    await screen.shows(/❯ ended +two .* s_\w+$/m)
    screen.resize(50, 20)
    await screen.shows(/^ +STATE +LABEL +DOING +WORKSPACE +AGE ▾$/m)
    screen.press('?')
    await screen.shows(/Keys of the list[\s\S]*rows 1 to/)
    screen.press('q')
    await screen.shows(/❯ ended +two/)
    screen.press('q')
    await screen.shows(/exit code 0/)
  },
)

test.each(SIZES)(
  '14.2.1 at %i×%i a question is answered, a turn interrupted and a change read from the list',
  { ...needs('tmux', 'git'), timeout: 120_000 },
  async (columns, rows) => {
    const { home, client } = await gateway()
    const done = await client.sessions.start({ adapter: 'own', cwd: folder('done'), label: 'done' })
    const { turn } = await client.sessions.prompt(done.id, { prompt: 'write note.txt tea' })
    await client.sessions.waitTurn(done.id, turn)
    await client.sessions.start({ adapter: 'own', cwd: home, label: 'loop', prompt: 'stream 1; hang' })
    await client.sessions.start({ adapter: 'own', cwd: home, label: 'asks', prompt: 'ask made.txt hello' })
    const screen = terminal(['sessions', '--watch'], home, { columns, rows })
    await screen.shows(/^1 needs you · 1 working · 1 idle/m)
    screen.press('Tab')
    await screen.shows(/❯ waiting +asks/)
    screen.press('y')
    await screen.shows(/made\.txt[\s\S]*(?:Press one key|It can be allowed when)/)
    screen.press('n')
    await screen.shows(/^0 need you/m)
    expect(existsSync(join(home, 'made.txt'))).toBe(false)
    await filter(screen, 'loop')
    await screen.shows(/❯ busy +loop/)
    screen.press('x')
    await screen.shows(/The turn of loop was interrupted/)
    await filter(screen, 'done')
    await screen.shows(/❯ idle +done/)
    screen.press('d')
    await screen.shows(/Changes of done[\s\S]*\+tea/)
    screen.press('q')
    await screen.shows(/❯ idle +done/)
    screen.press('?')
    await screen.shows(/Keys of the list/)
    screen.press('q')
    await screen.shows(/❯ idle +done/)
    screen.press('q')
    await screen.shows(/exit code 0/)
  },
)

test(
  '14.2.1 a bare --attach attaches to the only running session, or lets choose; without a terminal it lists',
  { ...needs('tmux'), timeout: 120_000 },
  async () => {
    const { home, client } = await gateway()
    expect(await cli(['sessions', '--attach'], { home })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('agentproto sessions start demo --attach'),
    })
    await client.sessions.start({ adapter: 'own', cwd: home, label: 'one' })
    const only = terminal(['sessions', '--attach'], home, { columns: 50, rows: 20 })
    await only.shows(/attached to the only running session,\s+one[\s\S]*❯/)
    only.press('C-d')
    await only.shows(/exit code 0/)
    await client.sessions.start({ adapter: 'own', cwd: home, label: 'two' })
    const chosen = terminal(['sessions', '--attach'], home, { columns: 80, rows: 24 })
    await chosen.shows(/❯ idle +two[\s\S]*idle +one/)
    chosen.press('Down')
    await chosen.shows(/❯ idle +one/)
    chosen.press('Enter')
    await chosen.shows(/^one · own/m)
    chosen.press('C-d')
    await chosen.shows(/Detached; the session keeps running[\s\S]*exit code 0/)
    const piped = await cli(['sessions', '--attach'], { home })
    expect(piped.code).toBe(2)
    expect(piped.stderr).toMatch(/Name it: agentproto sessions --attach two\. Others: one/)
  },
)

test('14.2.5 the list is filtered, and says what is hidden; --json has the same set', async () => {
  const { home, client } = await gateway()
  const other = folder('other')
  expect(await cli(['workspace', 'add', other, '--slug', 'other'], { home })).toMatchObject({ code: 0 })
  await client.sessions.start({ adapter: 'own', cwd: home, label: 'here' })
  await client.sessions.start({ adapter: 'own', workspaceSlug: 'other', label: 'there' })
  const labels = async (...options: string[]): Promise<string[]> => {
    const { stdout } = await cli(['sessions', ...options, '--json'], { home })
    const { sessions } = JSON.parse(stdout) as { sessions: readonly { label: string }[] }
    return sessions.map(({ label }) => label)
  }
  expect(await labels()).toEqual(['there', 'here'])
  expect(await labels('--workspace', 'other')).toEqual(['there'])
  expect(await labels('--label', 'here')).toEqual(['here'])
  expect(await labels('--adapter', 'demo')).toEqual([])
  expect(await labels('--since', '1h', '--state', 'idle')).toEqual(['there', 'here'])
  const { stdout } = await cli(['sessions', '--workspace', 'other'], { home })
  expect(stdout).toMatch(/^STATE +LABEL[^\n]*\nidle +there [^\n]*\n$/)
  expect(await cli(['sessions', '--since', 'yesterday'], { home })).toMatchObject({ code: 2 })
  const none = await cli(['sessions', '--label', 'nowhere'], { home })
  expect(none.stdout).toBe('No session matches these options. To list all: agentproto sessions --all\n')
})

test('14.2.5 a session does not seem to wait for what was asked in a turn that is over', async () => {
  const { home, client } = await gateway()
  const { id } = await client.sessions.start({ adapter: 'own', cwd: home, label: 'asked' })
  await client.sessions.prompt(id, { prompt: 'question' })
  await expect.poll(async () => (await cli(['sessions'], { home })).stdout).toMatch(/waiting +asked +\? Which colour/)
  await client.sessions.interrupt(id)
  await expect
    .poll(async () => (await cli(['sessions'], { home })).stdout)
    .toMatch(/idle +asked +(?:\[user\] question|The answer was)/)
})

/** Each key is seen before the next: keys that come in one read are taken for a paste. */
async function filter(screen: ReturnType<typeof terminal>, words: string): Promise<void> {
  screen.press('/')
  await screen.shows(/Filter/)
  screen.press('C-u')
  screen.type(words)
  await screen.shows(new RegExp(`Filter.*${words}`))
  screen.press('Enter')
}
