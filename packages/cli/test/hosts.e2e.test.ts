import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'

test('17.1 hosts lists this host where there is no fleet, and sessions are listed by host', async () => {
  const home = folder()
  await serve(home)
  await cli(['sessions', 'start', 'demo', '--label', 'one'], { home })
  const { stdout } = await cli(['hosts', '--json'], { home })
  expect(JSON.parse(stdout)).toMatchObject({ hosts: [{ name: hostname(), self: true, liveSessions: 1, lag: 0 }] })
  const list = await cli(['hosts'], { home })
  expect(list.stdout).toMatch(/HOST +SEEN +LIVE +FREE/)
  expect(list.stdout).toContain(hostname())
  // Without a terminal there is nothing to keep up to date.
  expect((await cli(['hosts', '--watch'], { home })).stdout).toContain(hostname())
  const count = async (host: string): Promise<number> =>
    JSON.parse((await cli(['sessions', '--host', host, '--json'], { home })).stdout).sessions.length
  expect([await count(hostname()), await count('elsewhere')]).toEqual([1, 0])
})

test('17.7 hosts key creates the key once, for its owner alone, and prints it only when asked', async () => {
  const home = folder()
  const path = join(home, 'fleet.key')
  const made = await cli(['hosts', 'key'], { home })
  expect(made).toMatchObject({ code: 0, stdout: `${path}\n` })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const { stdout: key } = await cli(['hosts', 'key', '--show'], { home })
  expect(key).toMatch(/^[\w-]{43}\n$/)
  const again = await cli(['hosts', 'key'], { home })
  expect(again).toMatchObject({ code: 0, stdout: `${path}\n`, stderr: expect.stringContaining('unchanged') })
  expect((await cli(['hosts', 'key', '--show'], { home })).stdout).toBe(key)
  chmodSync(path, 0o644)
  const open = await cli(['hosts', 'key', '--show'], { home })
  expect(open).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('0600') })
})

test('17.1 serve refuses a cluster that cannot be meant, and repeats no password', async () => {
  const home = folder()
  const refused = async (...args: string[]) => cli(['serve', '--port', '0', ...args], { home })
  expect(await refused('--host-name', 'desk')).toMatchObject({ code: 2, stderr: expect.stringContaining('--cluster') })
  expect(await refused('--cluster', 'nats://x', '--host-name', 'Desk.local')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('1 to 63'),
  })
  expect(await refused('--cluster', 'nats://x', '--host-label', 'gpu')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('key=value'),
  })
})

test('17.1 a gateway without a cluster loads nothing of NATS', async () => {
  const [home, scripts] = [folder(), folder('coverage')]
  // Node writes there which scripts were loaded.
  await serve(home, { env: { NODE_V8_COVERAGE: scripts } })
  await cli(['hosts'], { home })
  await cli(['stop'], { home })
  const loaded = readdirSync(scripts).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(scripts, name), 'utf8')) as { result: { url: string }[] }
    return result.map(({ url }) => url)
  })
  expect(loaded.filter((url) => url.endsWith('/dist/gateway.js'))).toHaveLength(1)
  expect(loaded.filter((url) => /\/dist\/fleet\.js$|nats/.test(url))).toEqual([])
})
