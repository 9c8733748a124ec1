import { spawn } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

const PAGE = readFileSync(fileURLToPath(new URL('../docs/http-api.md', import.meta.url)), 'utf8')
/** Every code block of the page. A block in another language would not be tested. */
const languages = [...PAGE.matchAll(/^```(\w+)/gm)].map(([, language]) => language)
const blocks = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)

test('the commands of docs/http-api.md do what the page says', needs('bash', 'curl'), async () => {
  const home = temporaryFolder('docs')
  await startDaemon({ home })
  const script = `set -eu\n${blocks.map((block, at) => `echo "== ${at}"\n${block}`).join('')}`
  const shell = spawn('bash', ['-c', script], { env: { ...process.env, HOME: home, TMPDIR: home } })
  const [said, complaints, status] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    new Promise((resolve) => shell.on('close', resolve)),
  ])
  expect([status, complaints], said).toEqual([0, ''])
  expect(languages).toEqual(blocks.map(() => 'sh'))
  expect(blocks).toHaveLength(7)
  const [, health, session, turns, asked, set, keyed, ended] = said.split(/^== \d+\n/m)
  expect(health).toContain('"ok":true')
  expect(session).toMatch(/"id":"s_\w+".*"status":"running"/)
  expect(turns).toContain('"reason":"end_turn"')
  expect(turns).toMatch(/event: text-delta\n.*event: turn-end/s)
  expect(turns).toContain('"lines":[')
  expect(asked).toContain('"state":"resolved"')
  const folder = readdirSync(home).find((name) => existsSync(join(home, name, 'note.txt')))
  expect(readFileSync(join(home, folder ?? '', 'note.txt'), 'utf8')).toContain('hello')
  expect(set).toContain('"modeId":"plan"')
  expect(set).toContain('"wasBusy":true')
  expect(set).toMatch(/"title":"another way".*"forkedFrom":"s_|"forkedFrom":"s_.*"title":"another way"/)
  expect(keyed).toMatch(/^one session\n304\n/)
  expect(keyed).toContain('\\"ok\\":true')
  expect(ended).toContain('event: line\ndata: {"line":')
  expect(ended).toMatch(/^id: 6$/m)
  expect(ended).not.toMatch(/^id: 5$/m)
  expect(ended).toMatch(/"ok":true,"id":"s_\w+"\}\s*$/)
})
