import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { cli, folder, serve, start } from './cli-process.js'
import { ownAgent } from './own-agent.js'
import { stable } from './screen.js'
import { terminal } from './terminal.js'
import { needs } from '../../../tooling/needs.ts'

// A whole first session of a user. The screens are stored in golden/; `-u` updates them.

const golden = (name: string): string => fileURLToPath(new URL(`golden/${name}.txt`, import.meta.url))

test(
  'first use: workspace, session, prompts, a permission, an interrupt, --watch',
  { ...needs('tmux'), timeout: 300_000 },
  async () => {
    const home = folder()
    await serve(home)
    const run = (...args: string[]) => cli(args, { home })
    expect(await run('workspace', 'add', home, '--slug', 'shop', '--use')).toMatchObject({ code: 0, stdout: 'shop\n' })
    expect(await run('sessions', 'start', 'demo', '--label', 'try')).toMatchObject({
      code: 0,
      stderr: `agentproto: it runs in ${home} (shop)\n`,
    })

    const screen = terminal(['sessions', '--attach', 'try'], home, { columns: 100, rows: 44 })
    await screen.shows(/idle {3}\/help · \/detach exits\n❯/)
    screen.type('remember blue')
    screen.press('Enter')
    await screen.shows(/── turn 1 · end_turn/)
    screen.type('plan; write notes.txt hello; usage')
    screen.press('Enter')
    await screen.shows(/── turn 2 · end_turn[\s\S]*idle/)
    screen.type('ask made.txt hello')
    screen.press('Enter')
    const asked = await screen.shows(/\[y\] Allow once[\s\S]*Press one key/)
    await expect(stable(asked, home)).toMatchFileSnapshot(golden('attach-permission'))
    screen.press('y')
    await screen.shows(/── turn 3 · end_turn[\s\S]*idle/)
    expect(existsSync(join(home, 'made.txt'))).toBe(true)
    screen.type('hang')
    screen.press('Enter')
    await screen.shows(/❯ hang[\s\S]*Esc interrupts/)
    screen.press('C-c')
    const interrupted = await screen.shows(/── turn 4 · cancelled[\s\S]*idle {3}/)
    await expect(stable(interrupted, home)).toMatchFileSnapshot(golden('attach'))
    screen.type('/detach')
    screen.press('Enter')
    await screen.shows(/Detached; the session keeps running\..*\nexit code 0/s)

    await run('sessions', 'start', 'demo', '--label', 'asking', '-p', 'ask a.txt hello')
    await run('sessions', 'start', 'demo', '--label', '日本語 🎉', '-p', 'hang')
    const watch = terminal(['sessions', '--watch'], home, { columns: 120, rows: 12 })
    const watched = await watch.shows(
      /busy +日本語 🎉[\s\S]*waiting +asking +\? Write a\.txt[\s\S]*idle +try +\[user\][\s\S]*q quits/,
    )
    await expect(stable(watched, home)).toMatchFileSnapshot(golden('watch-120'))
    watch.resize(80, 12)
    // Right after a resize the terminal may still have a line of the wider picture.
    const narrow = await watch.shows(/^\s*1 needs you[^\n]*\n +STATE[\s\S]*日本語[\s\S]*x interrupt · q quits/)
    await expect(stable(narrow, home)).toMatchFileSnapshot(golden('watch-80'))
    watch.press('q')
    await watch.shows(/exit code 0/)
  },
)

// Common mistakes. Each error is one line that ends with a command, and that command fixes it.

/** The command that an error suggests. */
function suggested({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): string[] {
  expect({ stdout, failed: code !== 0 }).toEqual({ stdout: '', failed: true })
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  const command = /: agentproto ([^.,;]+?)(?:\.|,|;|$| \()/m.exec(stderr)?.[1]
  expect(command, stderr).toBeDefined()
  return (command ?? '').trim().split(' ')
}

test('mistake 1: no gateway runs', async () => {
  const home = folder()
  onTestFinished(async () => void (await cli(['stop'], { home })))
  const command = suggested(await cli(['status'], { home }))
  expect(command).toEqual(['serve', '--detach'])
  expect(await cli(command, { home })).toMatchObject({ code: 0 })
  expect(await cli(['status'], { home })).toMatchObject({ code: 0 })
})

test('mistake 2: an unknown id', async () => {
  const home = folder()
  await serve(home)
  await cli(['sessions', 'start', 'demo', '--label', 'mine', '--cwd', home], { home })
  const command = suggested(await cli(['sessions', 'show', 'main'], { home }))
  const listed = await cli(command, { home })
  expect(listed.stdout).toContain('mine')
  expect(await cli(['sessions', 'show', 'mine'], { home })).toMatchObject({ code: 0 })
})

test('mistake 3: the agent is not installed', async () => {
  const home = folder()
  await ownAgent(home)
  await serve(home)
  const failed = await cli(['sessions', 'start', 'own', '--cwd', home], { home })
  const command = suggested(failed)
  expect(command).toEqual(['adapters', 'install', 'own'])
  expect(await cli(command, { home })).toMatchObject({ code: 0 })
  expect(await cli(['sessions', 'start', 'own', '--cwd', home], { home })).toMatchObject({ code: 0 })
})

test('mistake 4: the agent is not logged in', async () => {
  const home = folder()
  const { login } = await ownAgent(home, { needsLogin: true })
  await cli(['adapters', 'install', 'own'], { home })
  await serve(home)
  const command = suggested(await cli(['sessions', 'start', 'own', '--cwd', home], { home }))
  expect(command).toEqual(['adapters', 'login', 'own'])
  expect(await cli(command, { home })).toMatchObject({ code: 0 })
  expect(existsSync(login)).toBe(true)
  expect(await cli(['sessions', 'start', 'own', '--cwd', home], { home })).toMatchObject({ code: 0 })
})

test('mistake 5: the session is busy', async () => {
  const home = folder()
  await serve(home)
  await cli(['sessions', 'start', 'demo', '--label', 'busy', '--cwd', home, '-p', 'ask a.txt hello'], { home })
  const command = suggested(await cli(['sessions', 'prompt', 'busy', 'hello'], { home }))
  expect(command).toEqual(['sessions', 'wait', 'busy'])
  // The turn waits for an answer.
  const waiting = start(command, { home })
  await expect
    .poll(() => cli(['sessions', 'answer', 'busy', '--allow'], { home }), { timeout: 60_000 })
    .toMatchObject({ code: 0 })
  expect(await waiting.ended).toMatchObject({ code: 0 })
  expect(await cli(['sessions', 'prompt', 'busy', 'hello', '--wait'], { home })).toMatchObject({
    code: 0,
    stdout: 'echo: hello\n',
  })
})
