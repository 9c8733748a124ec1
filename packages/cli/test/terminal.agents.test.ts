import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve, withoutKeeper } from './cli-process.js'
import { terminal } from './terminal.js'
import { needs } from '../../../tooling/needs.ts'

async function home(): Promise<string> {
  const path = folder()
  await serve(path)
  await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', path], { home: path })
  return path
}

test(
  'attach: prompts, a permission by key, an interrupt, and a detach that keeps the session running',
  needs('tmux'),
  async () => {
    const path = await home()
    const screen = terminal(['sessions', '--attach', 'try'], path)
    await screen.shows(/^try · demo · .*idle {3}\/help · \/detach exits\n❯/m)
    screen.type('remember blue')
    await screen.shows(/^❯ remember blue$/m)
    screen.press('Enter')
    await screen.shows(/^echo: remember blue\n── turn 1 · end_turn · .* ──$/m)

    screen.type('ask made.txt hello')
    screen.press('Enter')
    await screen.shows(/Path .*made\.txt[\s\S]*\[y\] Allow once[\s\S]*\[n\] Deny once: Reject[\s\S]*Press one key/)
    expect(existsSync(join(path, 'made.txt'))).toBe(false)
    screen.press('y')
    await screen.shows(/→ Allow once \(owner\)\n {2}✓ completed[\s\S]*── turn 2/)
    expect(existsSync(join(path, 'made.txt'))).toBe(true)

    screen.type('stream 1; hang')
    screen.press('Enter')
    await screen.shows(/chunk 1[\s\S]*Esc interrupts/)
    screen.press('C-c')
    await screen.shows(/── turn 3 · cancelled · .* ──[\s\S]*idle/)

    screen.type('/detach')
    screen.press('Enter')
    await screen.shows(/Detached; the session keeps running\..*\nexit code 0/)
    const { stdout } = await cli(['sessions', 'show', 'try', '--json'], { home: path })
    expect(JSON.parse(stdout)).toMatchObject({ status: 'running', turn: { state: 'idle' }, turnCount: 3 })
  },
)

test('attach: a question is asked field by field, and Ctrl-C twice detaches', needs('tmux'), async () => {
  const screen = terminal(['sessions', '--attach', 'try'], await home())
  await screen.shows(/idle/)
  screen.type('question which one')
  screen.press('Enter')
  await screen.shows(/which one[\s\S]* 1 red, 2 green, 3 blue · Esc declines\n {2}1\/2 Colour:/)
  screen.type('2')
  await screen.shows(/1\/2 Colour: 2/)
  screen.press('Enter')
  await screen.shows(/2\/2 Why:/)
  screen.press('Enter')
  await screen.shows(/→ accepted \(owner\)[\s\S]*green[\s\S]*── turn 1 · end_turn/)
  screen.press('C-c')
  await screen.shows(/Ctrl-C again detaches/)
  screen.press('C-c')
  await screen.shows(/exit code 0/)
})

test('--watch follows the sessions at any width, and q quits', needs('tmux'), async () => {
  const path = await home()
  const screen = terminal(['sessions', '--watch'], path)
  await screen.shows(/^ +STATE +LABEL.*AGE ▾ +ID\n❯ idle +try .* s_\w+$/m)
  await cli(['sessions', 'start', 'demo', '--label', 'second', '--cwd', path, '--prompt', 'ask a.txt'], { home: path })
  await screen.shows(/waiting +second[\s\S]*❯ idle +try/)
  screen.press('r')
  await screen.shows(/AGE ▴[\s\S]*❯ idle +try[\s\S]*waiting +second/)
  screen.press('s')
  await screen.shows(/STATE ▾[\s\S]*waiting +second[\s\S]*❯ idle +try/)
  screen.resize(60, 20)
  const narrow = await screen.shows(/^ +STATE ▾ +LABEL +DOING +WORKSPACE +AGE/m)
  expect(narrow.match(/STATE ▾ /g)).toHaveLength(1)
  await cli(['sessions', 'kill', 'second'], { home: path })
  await screen.shows(/ended +second/)
  screen.press('q')
  await screen.shows(/exit code 0/)
})

test('run asks by key on a terminal', needs('tmux'), async () => {
  const path = folder()
  const screen = terminal(['run', 'demo', '-p', 'ask made.txt hi'], path)
  await screen.shows(/\[y\] Allow once[\s\S]*Press one key/)
  screen.press('n')
  await screen.shows(/→ Reject \(owner\)[\s\S]*I was not allowed[\s\S]*exit code 5/)
})

test(
  'attach survives an outage: a new port, no lost event, and a prompt resumes the session',
  needs('tmux'),
  async () => {
    const path = withoutKeeper(folder())
    const first = await serve(path)
    await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', path], { home: path })
    const screen = terminal(['sessions', '--attach', 'try'], path)
    await screen.shows(/idle/)
    screen.type('remember blue')
    screen.press('Enter')
    await screen.shows(/── turn 1 · end_turn/)
    screen.type('stream 3; hang')
    screen.press('Enter')
    await screen.shows(/chunk 3/)
    first.child.kill('SIGKILL')
    await first.ended
    await screen.shows(/! The gateway does not answer; reconnecting\.[\s\S]*reconnecting/)
    screen.type('recall')
    screen.press('Enter')
    await screen.shows(/your line is kept[\s\S]*❯ recall/)
    const second = await serve(path)
    expect(second.url).not.toBe(first.url)
    await screen.shows(/! Connected again\.[\s\S]*── session error[\s\S]*a prompt resumes it/)
    screen.press('Enter')
    const shown = await screen.shows(/remember blue[\s\S]*── turn 3 · end_turn/)
    expect(shown.match(/chunk 2/g)).toHaveLength(1)
    screen.press('C-d')
    await screen.shows(/Detached; the session keeps running/)
  },
)

test('--watch reports that the gateway does not answer, and continues when it does', needs('tmux'), async () => {
  const path = withoutKeeper(folder())
  const first = await serve(path)
  await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', path], { home: path })
  const screen = terminal(['sessions', '--watch'], path)
  await screen.shows(/idle +try/)
  first.child.kill('SIGKILL')
  await first.ended
  await screen.shows(/The gateway does not answer; reconnecting/)
  await serve(path)
  await screen.shows(/^(?![\s\S]*does not answer)[\s\S]*asleep +try/)
  screen.press('q')
  await screen.shows(/exit code 0/)
})
