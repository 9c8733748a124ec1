import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'
import { terminal, type Terminal } from './terminal.js'
import { needs } from '../../../tooling/needs.ts'

// What a person at a terminal sees of a request, and which keys answer it, in terminals of three sizes.

const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 50, rows: 20 },
] as const
const HIDDEN = `echo ${'all of this is harmless and only there to be long '.repeat(30)}; rm -rf ~/projects`

/** Its keys count. A long path of the temporary folder makes the content longer than a small screen. */
const READY = /\[y\] Allow once[\s\S]*(?:Press one key|It can be allowed when)/

interface Attached {
  readonly screen: Terminal
  readonly home: string
}

/** A session of the demo agent that asks, and an attach in a terminal. */
async function asking(prompt: string, size: { readonly columns: number; readonly rows: number }): Promise<Attached> {
  const home = folder()
  await serve(home)
  await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', home, '--prompt', prompt], { home })
  return { screen: terminal(['sessions', '--attach', 'try'], home, size), home }
}

const waitingRequests = async (home: string): Promise<number> => {
  const { stdout } = await cli(['sessions', 'show', 'try', '--json'], { home })
  return (JSON.parse(stdout) as { readonly pendingRequests: number }).pendingRequests
}

/** Where the content is scrolled to. */
function placeIn(screen: string): { readonly from: string; readonly isEnd: boolean } {
  return { from: /rows (\d+) to/.exec(screen)?.[1] ?? '', isEnd: screen.includes('the end;') }
}

for (const size of SIZES) {
  const name = `${size.columns}x${size.rows}`

  test(
    `14.1.1 at ${name} a paste answers nothing, in brackets or not, and the request waits`,
    needs('tmux'),
    async () => {
      const { screen, home } = await asking('ask made.txt hello', size)
      await screen.shows(READY)
      screen.paste('yes, please add tests as well', { brackets: true })
      await screen.shows(/❯ yes, please add tests as well/)
      expect(await waitingRequests(home)).toBe(1)
      screen.press('C-u')
      await screen.shows(READY)
      screen.paste('aaa', { brackets: false })
      await screen.shows(/❯ aaa/)
      expect(await waitingRequests(home)).toBe(1)
      expect(existsSync(join(home, 'made.txt'))).toBe(false)
      screen.press('C-u')
      await screen.shows(READY)
      screen.press('n')
      await screen.shows(/I was not allowed to write made\.txt/)
    },
  )

  test(`14.1.2 at ${name} the hidden command is shown to its end before it can be allowed`, needs('tmux'), async () => {
    const { screen, home } = await asking(`disguise ${HIDDEN.replaceAll(';', '\\;')}`, size)
    const first = await screen.shows(/It +runs commands[\s\S]*rows 1 to \d+ of \d+ · PgDn[\s\S]*\[n\] Deny once/)
    await screen.shows(/It can be allowed when you have seen its end/)
    screen.press('y')
    await screen.shows(/Scroll to the end before you allow it/)
    for (let shown = placeIn(first); !shown.isEnd;) {
      screen.press('PageDown')
      shown = placeIn(await screen.shows(new RegExp(`rows (?!${shown.from} )\\d+ to`)))
    }
    await screen.shows(/the end; PgUp[\s\S]*Press one key/)
    expect(await waitingRequests(home)).toBe(1)
    screen.press('y')
    await screen.shows(/I was allowed to run it/)
  })
}

test('14.1.1 always shows what it covers, goes back, and becomes a rule by a second key', needs('tmux'), async () => {
  const { screen, home } = await asking('ask made.txt hello', SIZES[0])
  await screen.shows(READY)
  screen.press('a')
  await screen.shows(/\[s\] Allow this same call again[\s\S]*\[w\][\s\S]*\[g\] Let the agent[\s\S]*Press one key/)
  screen.press('Escape')
  await screen.shows(READY)
  screen.press('a')
  await screen.shows(/\[s\] Allow this same call again[\s\S]*Press one key/)
  screen.press('s')
  await screen.shows(/I was allowed to write made\.txt/)
  const { stdout } = await cli(['permissions', 'list', '--session', 'try'], { home })
  expect(stdout).toMatch(/allow.*session/)
})
