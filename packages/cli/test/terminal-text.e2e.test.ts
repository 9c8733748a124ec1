import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'
import { ownAgent } from './own-agent.js'

const HOSTILE = fileURLToPath(new URL('fixtures/hostile-agent.mjs', import.meta.url))
/** All that moves a cursor, sets a title, or shows text in another order. */
const HARMFUL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\p{Bidi_Control}]/u

const COMMANDS: readonly (readonly string[])[] = [
  ['sessions'],
  ['sessions', '--tree'],
  ['sessions', '--json'],
  ['sessions', 'show', 'evil'],
  ['sessions', 'show', 'evil', '--json'],
  ['sessions', 'events', 'evil'],
  ['sessions', 'events', 'evil', '--json'],
  ['sessions', 'logs', 'evil'],
  ['sessions', 'logs', 'evil', '--json'],
  ['sessions', 'requests'],
  ['sessions', 'requests', '--json'],
  ['sessions', 'search', 'owned'],
  ['sessions', 'config', 'evil'],
  ['sessions', 'export', 'evil', '--format', 'md'],
  ['permissions'],
  ['status'],
]

test('12.A7 no command prints control characters or bidirectional overrides of an agent', async () => {
  const home = folder()
  await ownAgent(home, { agent: HOSTILE })
  expect(await cli(['adapters', 'install', 'own'], { home })).toMatchObject({ code: 0 })
  await serve(home)
  const run = (...args: readonly string[]) => cli(args, { home, env: { AGENTPROTO_NO_START: '1' } })
  await run('sessions', 'start', 'own', '--label', 'evil', '--cwd', home, '-p', 'go')
  const show = async (): Promise<string> => (await run('sessions', 'show', 'evil')).stdout
  await expect.poll(show, { timeout: 30_000 }).toContain('Waits for an answer')
  const printed = await Promise.all(COMMANDS.map(async (command) => ({ command, ...(await run(...command)) })))
  const shown = printed.filter(({ stdout }) => stdout.includes('owned')).map(({ command }) => command)
  expect(shown).toEqual(
    expect.arrayContaining([
      ['sessions', 'show', 'evil'],
      ['sessions', 'events', 'evil'],
    ]),
  )
  const harmful = printed.filter(({ stdout, stderr }) => HARMFUL.test(stdout + stderr)).map(({ command }) => command)
  expect(harmful).toEqual([])
  const file = join(home, 'evil.md')
  expect(await run('sessions', 'export', 'evil', '--format', 'md', '-o', file)).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).not.toMatch(HARMFUL)
})
