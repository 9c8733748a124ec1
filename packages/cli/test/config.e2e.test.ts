import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'

const run =
  (home: string) =>
  (...args: string[]) =>
    cli(['config', ...args], { home })

test('config gets, sets and unsets a key; only the owner can read the file', async () => {
  const home = folder()
  const config = run(home)
  expect(await config('get', 'sessions.maxSessions')).toEqual({ code: 0, stdout: '64\n', stderr: '' })
  expect(await config('set', 'sessions.maxSessions', '3')).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await config('set', 'allowedHosts', 'a.example, b.example')).toMatchObject({ code: 0 })
  expect(await config('set', 'executables.claude', '/opt/claude')).toMatchObject({ code: 0 })
  expect(await config('set', 'bundledAdapters', 'false')).toMatchObject({ code: 0 })
  const path = join(home, 'config.json')
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    sessions: { maxSessions: 3 },
    allowedHosts: ['a.example', 'b.example'],
    executables: { claude: '/opt/claude' },
    bundledAdapters: false,
  })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(JSON.parse((await config('get', 'sessions.maxSessions', '--json')).stdout)).toEqual({
    key: 'sessions.maxSessions',
    value: 3,
    set: true,
  })
  expect((await config('list')).stdout).toMatch(/^sessions\.maxSessions +3 +yes/m)
  expect(JSON.parse((await config('list', '--json')).stdout).config).toMatchObject({
    durability: { value: 'kernel', set: false },
    executables: { value: { claude: '/opt/claude' }, set: true },
  })
  await config('unset', 'sessions.maxSessions')
  expect(JSON.parse(readFileSync(path, 'utf8'))).not.toHaveProperty('sessions')
})

test.each([
  [['set', 'sessions.maxSession', '3'], /Did you mean sessions\.maxSessions\?|config list/],
  [['set', 'sessions.maxSessions', 'many'], /whole number/],
  [['set', 'sessions.maxSessions', '0'], /at least 1/],
  [['set', 'durability', 'paper'], /kernel/],
  [['set', 'adapters', 'relative/path'], /absolute path/],
  [['set', 'executables', '{'], /executables\.<name>/],
  [['get', 'nope'], /config list/],
])('config %j is refused in one line, and nothing is written', async (args, message) => {
  const home = folder()
  const { code, stdout, stderr } = await cli(['config', ...args], { home })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.trimEnd()).not.toContain('\n')
  expect(existsSync(join(home, 'config.json'))).toBe(false)
})

test('an invalid file is reported with its line, and not overwritten', async () => {
  const home = folder()
  writeFileSync(join(home, 'config.json'), '{\n  "durabilty": "disk"\n}\n')
  const { code, stderr } = await cli(['config', 'set', 'durability', 'disk'], { home })
  expect(code).toBe(2)
  expect(stderr).toMatch(/durability/)
  expect(readFileSync(join(home, 'config.json'), 'utf8')).toContain('durabilty')
})

test('while a gateway is running, a hint says how to apply the change', async () => {
  const home = folder()
  await serve(home)
  expect((await cli(['config', 'set', 'durability', 'disk'], { home })).stderr).toContain('agentproto stop')
})
