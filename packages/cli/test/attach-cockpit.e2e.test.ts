import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { SIZES } from './attach-driver.js'
import { cli, folder, serve, withoutKeeper } from './cli-process.js'
import { terminal, type Terminal } from './terminal.js'

interface Attached {
  readonly screen: Terminal
  readonly home: string
  /** The folder of the session. */
  readonly cwd: string
  readonly gateway: Awaited<ReturnType<typeof serve>>
}

async function attach([columns, rows]: readonly [number, number], prompts: readonly string[] = []): Promise<Attached> {
  const home = withoutKeeper(folder())
  const cwd = folder('work')
  const gateway = await serve(home)
  await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', cwd], { home })
  for (const prompt of prompts) await cli(['sessions', 'prompt', 'try', prompt, '--wait'], { home })
  const screen = terminal(['sessions', '--attach', 'try'], home, { columns, rows, env: { LESS: 'RX+G' } })
  await screen.shows(/idle/)
  return { screen, home, cwd, gateway }
}

function enter(screen: Terminal, text: string): void {
  screen.type(text)
  screen.press('Enter')
}

test.each(SIZES)('14.2.4 queue, take back, interrupt and steer at %i×%i', needs('tmux'), async (columns, rows) => {
  const { screen } = await attach([columns, rows])
  enter(screen, 'hang')
  await screen.shows(/Esc interrupts\n❯/)
  enter(screen, 'remember blue')
  enter(screen, 'remember red')
  await screen.shows(/2 queued[^\n]*\n {2}⋯ remember blue\n {2}⋯ remember red\n/)
  screen.press('C-t')
  await screen.shows(/1 queued[\s\S]*❯ remember red$/m)
  screen.press('Escape')
  await screen.shows(/── turn 1 · cancelled[\s\S]*1 not sent · Enter sends[\s\S]*❯ remember red$/m)
  screen.press('C-u', 'Enter')
  await screen.shows(/echo: remember blue\n── turn 2 · end_turn/)
  enter(screen, 'hang')
  await screen.shows(/Esc interrupts\n❯/)
  screen.type('remember green')
  screen.press('C-s')
  await screen.shows(/── turn 3 · cancelled[\s\S]*echo: [\s\S]*remember green\n── turn 4 · end_turn[\s\S]*idle/)
})

test('14.2.4 modes, models, permissions, cost and help are ours, with completion', needs('tmux'), async () => {
  const { screen } = await attach([80, 24])
  screen.type('/mode p')
  await screen.shows(/\/mode plan {2}Plan/)
  screen.press('Tab', 'Enter')
  await screen.shows(/Set: mode plan[\s\S]*try · demo · plan · /)
  enter(screen, '/model')
  await screen.shows(/● demo-1 Demo One\n○ demo-2 Demo Two/)
  enter(screen, '/permissions deny-all')
  await screen.shows(/Set: permissions deny-all[\s\S]*· deny-all · /)
  enter(screen, '/permissions sometimes')
  await screen.shows(/No such permissions\. There are: ask, [\s\S]*❯ \/permissions sometimes$/m)
  screen.press('C-u')
  enter(screen, 'usage 0.25 1000')
  await screen.shows(/── turn 1[\s\S]*\$0\.25 · idle/)
  enter(screen, '/cost')
  await screen.shows(/Used: 1 turn, [^\n]*\$0\.25/)
  enter(screen, '/help')
  await screen.shows(/space before the slash[\s\S]*\(END\)/)
  screen.press('q')
  await screen.shows(/space before the slash[\s\S]*idle {3}\/help/)
})

test.each(SIZES)(
  '14.2.4 at %i×%i /diff opens the pager and comes back; /rewind shows its plan and asks',
  needs('tmux', 'git'),
  async (columns, rows) => {
    const { screen, cwd } = await attach([columns, rows])
    const file = join(cwd, 'a.txt')
    enter(screen, 'write a.txt one')
    await screen.shows(/── turn 1 · end_turn/)
    enter(screen, 'write a.txt two')
    await screen.shows(/── turn 2 · end_turn/)
    enter(screen, '/diff')
    await screen.shows(/\+two[\s\S]*\(END\)/)
    screen.press('q')
    await screen.shows(/\+two[\s\S]*idle {3}\/help[^\n]*\n❯/)
    enter(screen, '/rewind')
    await screen.shows(/\? Set 1 file back to the end of turn 1\n {2}M {2}a\.txt\n {2}\[y\] rewind/)
    expect(readFileSync(file, 'utf8')).toContain('two')
    // Keys count when the question could be read, and not while one is held; one too many is typed into the line.
    await expect.poll(() => (screen.press('n'), screen.now()), { timeout: 20_000, interval: 1_200 }).toMatch(/❯ n*\s*$/)
    expect(readFileSync(file, 'utf8')).toContain('two')
    screen.press('C-u')
    enter(screen, '/rewind 0')
    await screen.shows(/\? Set 1 file back to the start of the session\n {2}D {2}a\.txt\n/)
    await expect.poll(() => (screen.press('y'), existsSync(file)), { timeout: 20_000, interval: 1_200 }).toBe(false)
    await screen.shows(/1 file changed\.\nUndo it with: agentproto sessions rewind/)
  },
)

test('14.2.4 the history has prompts of earlier attaches, and PageUp shows the whole log', needs('tmux'), async () => {
  const prompts = Array.from({ length: 12 }, (_, index) => `remember number-${index + 1}`)
  const { screen } = await attach([50, 20], prompts)
  await screen.shows(/turn 12[\s\S]*idle/)
  screen.press('C-r')
  screen.type('number-1')
  await screen.shows(/search "number-1": remember number-12/)
  screen.press('C-r', 'C-r', 'C-r', 'Enter')
  await screen.shows(/❯ remember number-1$/m)
  screen.press('C-u', 'PageUp')
  await screen.shows(/── turn 12[^\n]*\n[\s\S]*\(END\)/)
  screen.press('g')
  await screen.shows(/❯ remember number-1\n/)
  screen.press('q')
  await screen.shows(/idle {3}\/help\n❯/)
})

test('14.2.4 the gateway killed under an attach: the line and the queue are kept', needs('tmux'), async () => {
  const { screen, home, gateway } = await attach([50, 20])
  enter(screen, 'remember blue; hang')
  await screen.shows(/Esc interrupts\n❯/)
  enter(screen, 'recall')
  screen.type('half a line')
  await screen.shows(/1 queued[\s\S]*❯ half a line$/m)
  gateway.child.kill('SIGKILL')
  await gateway.ended
  await screen.shows(/does not answer[\s\S]*1 queued[\s\S]*❯ half a line$/m)
  await serve(home)
  await screen.shows(/Connected again\.[\s\S]*1 not sent · Enter sends[\s\S]*❯ half a line$/m)
  screen.press('C-u', 'Enter')
  await screen.shows(/❯ recall\n[\s\S]*── turn 2 · end_turn/)
})

test('14.2.4 detaching hands the queue to the gateway, and prints what was not sent', needs('tmux'), async () => {
  const { screen, home } = await attach([80, 24])
  enter(screen, 'late 3000')
  await screen.shows(/Esc interrupts\n❯/)
  enter(screen, 'remember blue')
  await screen.shows(/1 queued/)
  screen.type('precious')
  await screen.shows(/❯ precious$/m)
  screen.press('C-u')
  enter(screen, '/detach')
  await screen.shows(/1 queued prompt: the gateway sends it after the turn\.[\s\S]*exit code 0/)
  const events = async (): Promise<string> => (await cli(['sessions', 'events', 'try', '--json'], { home })).stdout
  await expect.poll(events, { timeout: 60_000, interval: 500 }).toMatch(/"text":"remember blue"/)
})

test('14.2.4 a paste of many lines with tabs is sent as it is', needs('tmux'), async () => {
  const { screen, home } = await attach([50, 20])
  const text = Array.from({ length: 400 }, (_, index) => `\tline ${index}`).join('\n')
  writeFileSync(join(home, 'paste.txt'), `remember ${text}`)
  screen.pasteFile(join(home, 'paste.txt'))
  await screen.shows(/400 lines, of which \d+:\n❯/)
  screen.press('Enter')
  await screen.shows(/── turn 1 · end_turn/)
  const { stdout } = await cli(['sessions', 'events', 'try', '--json'], { home })
  expect(stdout).toContain(JSON.stringify(text).slice(1, -1))
})
