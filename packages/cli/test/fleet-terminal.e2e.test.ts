import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { startFleet } from './cli-fleet.js'
import { cli } from './cli-process.js'
import { terminal } from './terminal.js'

// What a person at the host `one` sees of the other hosts, in a real terminal.

const FLEET = needs('tmux', 'nats-server')

test(
  '17.1 hosts --watch follows hosts that join, leave and are lost, and leaves the terminal clean',
  FLEET,
  async () => {
    const { home, join } = await startFleet('one')
    const screen = terminal(['hosts', '--watch'], home, { columns: 100, rows: 12 })
    await screen.shows(/HOST +SEEN +LIVE[^\n]*\n\* {2}one +\ds +0 +64[^\n]*\nq quits/)
    const two = await join('two')
    await screen.shows(/\* {2}one [^\n]*\n {3}two +\ds +0 +64/)
    await two.kill()
    await screen.shows(/\n! {2}two +\d+s, unreachable [\s\S]*q quits · 1 unreachable: two/)
    screen.resize(40, 12)
    await screen.shows(/^ {3}HOST +SEEN[^\n]*\n\* {2}one [^\n]*\n! {2}two +\d+s, u[^\n]*\nq quits · 1 unreachable: two/)
    screen.resize(100, 12)
    const again = await join('two')
    await screen.shows(/\n {3}two +\ds +0[^\n]*\nq quits$/m)
    await again.stop()
    // What it had is of interest for a day.
    await screen.shows(/\n- {2}two +\d+s, stopped [^\n]*\nq quits$/m)
    screen.press('C-c')
    expect((await screen.shows(/exit code 0/)).trim()).toBe('exit code 0')
    screen.type('typed')
    await screen.shows(/exit code 0\ntyped/)
  },
)

test('17.1 hosts has no colours with NO_COLOR, and without a terminal is a table', FLEET, async () => {
  const { home } = await startFleet('one', 'two')
  for (const args of [['hosts'], ['hosts', '--watch']]) {
    const { stdout } = await cli(args, { home, env: { FORCE_COLOR: '', NO_COLOR: '1' } })
    expect(stdout).toMatch(/^ {3}HOST +SEEN[^\n]*\n\* {2}one [^\n]*\n {3}two [^\n]*\n$/)
  }
})

test(
  '17.2 an attach to a session of another host prompts, streams, answers, interrupts and detaches',
  FLEET,
  async () => {
    const { home } = await startFleet('one', 'two')
    await cli(['sessions', 'start', 'demo', '--label', 'far', '--on', 'two'], { home })
    const screen = terminal(['sessions', '--attach', 'far'], home, { columns: 100, rows: 30 })
    await screen.shows(/far · on two · demo · [^\n]*idle/)
    screen.type('hello')
    screen.press('Enter')
    await screen.shows(/echo: hello\n── turn 1 · end_turn/)
    screen.type('ask b.txt')
    screen.press('Enter')
    await screen.shows(/\[y\] Allow once/)
    await expect
      .poll(() => (screen.press('y'), screen.now()), { timeout: 20_000, interval: 1_200 })
      .toMatch(/── turn 2 · /)
    screen.press('C-u')
    screen.type('hang')
    screen.press('Enter')
    await screen.shows(/Esc interrupts\n❯/)
    screen.press('Escape')
    await screen.shows(/── turn 3 · cancelled/)
    screen.press('C-d')
    await screen.shows(/Detached; the session keeps running\.[\s\S]*exit code 0/)
  },
)

test(
  '17.6 the host of an attached session is killed: the person reads what happened, and goes on when it is back',
  FLEET,
  async () => {
    const { home, join } = await startFleet('one')
    const two = await join('two')
    await cli(['sessions', 'start', 'demo', '--label', 'near'], { home })
    await expect
      .poll(() => cli(['sessions', 'start', 'demo', '--label', 'far', '--on', 'two'], { home }), { timeout: 20_000 })
      .toMatchObject({ code: 0 })
    const screen = terminal(['sessions', '--attach', 'far'], home, { columns: 80, rows: 24 })
    const list = terminal(['sessions', '--watch'], home, { columns: 110, rows: 12 })
    await list.shows(/HOST (?=[\s\S]*idle +near [^\n]* one )(?=[\s\S]*idle +far [^\n]* two )/)
    await screen.shows(/far · on two · [^\n]*idle/)
    screen.type('remember blue; hang')
    screen.press('Enter')
    await screen.shows(/Esc interrupts\n❯/)
    screen.type('half a line')
    await two.kill()
    await screen.shows(
      /! The host two is not heard from\. [\s\S]*two is not heard from {3}Ctrl-D detaches\n❯ half a line$/m,
    )
    await list.shows(/unreachable +far +since two is not heard from/)
    screen.press('Enter')
    await screen.shows(/your line is kept\.[\s\S]*❯ half a line$/m)
    await join('two')
    await screen.shows(/! The host two is back\.[\s\S]*❯ half a line$/m)
    await list.shows(/asleep +far/)
    screen.press('C-u')
    screen.type('recall')
    screen.press('Enter')
    await screen.shows(/❯ recall\n[\s\S]*── turn 2 · end_turn/)
  },
)

test(
  '17.2 what waits at a host that does not answer is said to be missing, in a list and where a person answers',
  FLEET,
  async () => {
    const { home, join } = await startFleet('one')
    const two = await join('two')
    await expect
      .poll(() => cli(['sessions', 'start', 'demo', '--label', 'far', '--on', 'two'], { home }), { timeout: 20_000 })
      .toMatchObject({ code: 0 })
    expect(await cli(['requests'], { home })).toMatchObject({ code: 0, stderr: '' })
    await two.kill()
    const inbox = terminal(['requests', '--watch'], home, { columns: 90, rows: 20 })
    const NOTE = '! Not answered, so that what is there is missing: two. See: agentproto hosts'
    await inbox.shows(
      /! Not answered, so that what is there is missing: two\. [\s\S]*No request waits for you\. q quits\./,
    )
    const listed = await cli(['requests'], { home })
    expect(listed).toMatchObject({ stdout: 'No request waits for you.\n', stderr: `${NOTE}\n` })
    const { stdout } = await cli(['requests', '--json'], { home })
    expect(JSON.parse(stdout)).toMatchObject({ requests: [], unanswered: [{ host: 'two' }] })
    expect((await cli(['usage'], { home })).stderr).toBe(`${NOTE}\n`)
    expect((await cli(['sessions', 'search', 'blue'], { home })).stderr).toContain(NOTE)
    expect((await cli(['sessions', 'prune', '--older-than', '30d', '--dry-run'], { home })).stderr).toContain(NOTE)
    await join('two')
    await inbox.shows(/^No request waits for you\. q quits\.$/m)
    await expect.poll(() => inbox.now(), { timeout: 20_000 }).not.toMatch(/Not answered/)
  },
)
