import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { watchSessions } from '../src/watch-sessions.js'
import { cli, environment, folder, serve, start } from './cli-process.js'
import { terminal } from './terminal.js'
import { needs } from '../../../tooling/needs.ts'

// AIP-46 §Reference Implementation: the commands, row by row.

/** A gateway with one session. */
async function inhabited(label: string): Promise<{ readonly home: string; readonly id: string }> {
  const home = folder()
  await serve(home)
  const { stdout } = await cli(['sessions', 'start', 'demo', '--label', label, '--cwd', home], { home })
  return { home, id: stdout.trim() }
}

const workspaces = (home: string): unknown => JSON.parse(readFileSync(join(home, 'workspaces.json'), 'utf8'))

test('AIP-46 agentproto serve: runs a daemon with the routes of the specification', async () => {
  const home = folder()
  const { url } = await serve(home)
  const headers = { authorization: `Bearer ${readFileSync(join(home, 'token'), 'utf8').trim()}` }
  expect(await (await fetch(`${url}/sessions`, { headers })).json()).toEqual({ sessions: [] })
})

test('AIP-46 agentproto run: sends one prompt without a gateway; no registry has the session', async () => {
  const { home, id } = await inhabited('the only one')
  expect(await cli(['run', 'demo', '--prompt', 'hello'], { home })).toMatchObject({ code: 0, stdout: 'echo: hello\n' })
  const { sessions } = JSON.parse((await cli(['sessions', '--json'], { home })).stdout)
  expect(sessions).toMatchObject([{ id }])
  const alone = folder()
  expect(await cli(['run', 'demo', '--prompt', 'hello'], { home: alone })).toMatchObject({ code: 0 })
  expect(existsSync(join(alone, 'sessions.json'))).toBe(false)
})

test('AIP-46 agentproto workspace add: stores the folder and its slug', async () => {
  const [home, shop] = [folder(), folder('shop')]
  expect(await cli(['workspace', 'add', shop, '--slug', 'shop', '--label', 'Web shop'], { home })).toMatchObject({
    code: 0,
  })
  expect(workspaces(home)).toMatchObject({ version: 1, workspaces: [{ slug: 'shop', path: shop, label: 'Web shop' }] })
})

test('AIP-46 agentproto workspace list: lists each, and marks the active one', async () => {
  const [home, shop, blog] = [folder(), folder('shop'), folder('blog')]
  await cli(['workspace', 'add', shop, '--slug', 'shop', '--use'], { home })
  await cli(['workspace', 'add', blog, '--slug', 'blog'], { home })
  const { stdout } = await cli(['workspace', 'list'], { home })
  expect(stdout).toMatch(new RegExp(`^\\* +shop +.*${shop}`, 'm'))
  expect(stdout).toMatch(new RegExp(`^ +blog +.*${blog}`, 'm'))
  expect(JSON.parse((await cli(['workspace', 'list', '--json'], { home })).stdout)).toEqual(workspaces(home))
})

test('AIP-46 agentproto workspace remove: removes the workspace and keeps the folder', async () => {
  const [home, shop] = [folder(), folder('shop')]
  await cli(['workspace', 'add', shop, '--slug', 'shop'], { home })
  expect(await cli(['workspace', 'remove', 'shop'], { home })).toMatchObject({ code: 0 })
  expect(workspaces(home)).toEqual({ version: 1, workspaces: [] })
  expect(existsSync(shop)).toBe(true)
})

test('AIP-46 agentproto workspace use: makes it the active one', async () => {
  const [home, shop, blog] = [folder(), folder('shop'), folder('blog')]
  await cli(['workspace', 'add', shop, '--slug', 'shop', '--use'], { home })
  await cli(['workspace', 'add', blog, '--slug', 'blog'], { home })
  expect(workspaces(home)).toMatchObject({ active: 'shop' })
  expect(await cli(['workspace', 'use', 'blog'], { home })).toMatchObject({ code: 0 })
  expect(workspaces(home)).toMatchObject({ active: 'blog' })
})

test('AIP-46 agentproto sessions: lists the sessions of the registry', async () => {
  const { home, id } = await inhabited('try')
  const { code, stdout } = await cli(['sessions'], { home })
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^idle +try .*demo.* ${id.slice(0, 6)}`, 'm')),
  })
})

test('AIP-46 agentproto sessions --json: the same as GET /sessions', async () => {
  const { home, id } = await inhabited('try')
  const { stdout } = await cli(['sessions', '--json'], { home })
  expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ id, adapterSlug: 'demo', label: 'try', status: 'running' }] })
})

test('AIP-46 agentproto sessions --attach: prints the transcript so far, then new events, until the session ends', async () => {
  const { home, id } = await inhabited('try')
  await cli(['sessions', 'prompt', id, 'hello', '--wait'], { home })
  const attached = start(['sessions', '--attach', id], { home })
  await attached.line(/^echo: hello$/)
  const again = attached.line(/^echo: again$/)
  await cli(['sessions', 'prompt', id, 'again', '--wait'], { home })
  await again
  await cli(['sessions', 'kill', id], { home })
  expect(await attached.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('killed') })
})

test('AIP-46 agentproto sessions --watch: shows sessions that start and end while it runs, until q', async () => {
  const { home, id } = await inhabited('try')
  const { stdin, stdout, shown } = terminalStreams()
  const watching = watchSessions({ stdin, stdout, stderr: stdout, env: environment({ home }), cwd: home }, {})
  await expect.poll(shown).toMatch(new RegExp(`try [^\\n]*${id.slice(0, 6)}`))
  expect(shown()).not.toContain('second')
  const started = await cli(['sessions', 'start', 'demo', '--label', 'second', '--cwd', home], { home })
  await expect.poll(shown).toContain('second')
  await cli(['sessions', 'kill', started.stdout.trim()], { home })
  await expect.poll(shown).toMatch(/second[^\n]*ended/)
  stdin.write('q')
  await watching
})

/** A terminal of 100 columns and 30 rows, as streams. */
function terminalStreams() {
  let text = ''
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 30 })
  stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  return { stdin, stdout, shown: () => stripVTControlCharacters(text) }
}

test('AIP-46 agentproto sessions --watch: updates the list in a real terminal', needs('tmux'), async () => {
  const { home, id } = await inhabited('try')
  const screen = terminal(['sessions', '--watch'], home)
  await screen.shows(new RegExp(`try [^\\n]*${id.slice(0, 6)}`))
  await cli(['sessions', 'start', 'demo', '--label', 'second', '--cwd', home], { home })
  await screen.shows(/second/)
  screen.press('q')
  await screen.shows(/exit code 0/)
})
