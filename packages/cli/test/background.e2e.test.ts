import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cli, folder, serve, start } from './cli-process.js'

/** A home where every command may start the gateway. It is stopped after the test. */
function home(): { readonly path: string; readonly env: Readonly<Record<string, string>> } {
  const path = folder()
  onTestFinished(async () => {
    await cli(['stop'], { home: path })
  })
  return { path, env: { AGENTPROTO_NO_START: '' } }
}

interface Record_ {
  readonly pid: number
  readonly url: string
  readonly version: string
}
const recordOf = (path: string): Record_ => JSON.parse(readFileSync(join(path, 'daemon.json'), 'utf8')) as Record_

test('serve --detach prints the address and is idempotent; logs prints its log, and stop stops it', async () => {
  const { path } = home()
  const served = await cli(['serve', '--detach', '--port', '0'], { home: path })
  expect(served).toMatchObject({ code: 0, stderr: '' })
  const { pid, url } = recordOf(path)
  expect(served.stdout).toBe(`${url}\n`)
  expect(await cli(['serve', '-d'], { home: path })).toMatchObject({
    code: 0,
    stdout: `${url}\n`,
    stderr: `A gateway was already running, process ${pid}.\n`,
  })
  expect(JSON.parse((await cli(['status', '--json'], { home: path })).stdout)).toMatchObject({ url, pid })
  expect((await cli(['logs'], { home: path })).stdout).toBe(`${url}\n`)
  const [first = ''] = (await cli(['logs', '--json'], { home: path })).stdout.split('\n')
  expect(JSON.parse(first)).toMatchObject({ level: expect.any(String), msg: expect.any(String) })
  expect(await cli(['stop'], { home: path })).toEqual({ code: 0, stdout: '', stderr: `Stopped process ${pid}.\n` })
  await expect(fetch(`${url}/health`)).rejects.toThrow()
  expect(await cli(['stop', '--json'], { home: path })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"stopped": false'),
  })
  expect(await cli(['status'], { home: path })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^agentproto: No gateway is running for .*agentproto serve --detach\.\n$/),
  })
})

test('a command starts the gateway that it needs, unless --no-start is given', async () => {
  const { path, env } = home()
  const refused = await cli(['sessions', '--no-start'], { home: path, env })
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('agentproto serve --detach') })
  expect(await cli(['sessions', '--json'], { home: path, env })).toEqual({
    code: 0,
    stdout: '{\n  "sessions": [],\n  "hidden": 0\n}\n',
    stderr: '',
  })
  const { pid } = recordOf(path)
  await cli(['sessions', '--no-start'], { home: path, env })
  expect(recordOf(path).pid).toBe(pid)
})

test('F94 twenty commands at once start one gateway', async () => {
  const { path, env } = home()
  const ended = await Promise.all(Array.from({ length: 20 }, () => cli(['sessions', '--json'], { home: path, env })))
  expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    Array.from({ length: 20 }, () => ({ code: 0, stderr: '' })),
  )
  // Each gateway logs its address: there was one.
  const said = (await cli(['logs'], { home: path })).stdout
  expect(said.match(/^http/gm)).toHaveLength(1)
}, 300_000)

test('the next command replaces a killed gateway, even if another process has its pid', async () => {
  const { path, env } = home()
  const first = await serve(path)
  first.child.kill('SIGKILL')
  await first.ended
  // As if its pid had been given to another process.
  writeFileSync(join(path, 'daemon.json'), JSON.stringify({ ...recordOf(path), pid: process.pid }))
  expect(await cli(['sessions', '--json'], { home: path, env })).toMatchObject({ code: 0, stderr: '' })
  expect(recordOf(path).pid).not.toBe(process.pid)
})

test('another version of the gateway is reported once, on stderr', async () => {
  const path = folder()
  await serve(path)
  writeFileSync(join(path, 'daemon.json'), JSON.stringify({ ...recordOf(path), version: '0.0.1' }))
  const { code, stderr } = await cli(['sessions'], { home: path })
  expect(code).toBe(0)
  expect(stderr).toMatch(/^agentproto: the gateway is 0\.0\.1, this command is .*agentproto restart\n$/)
  expect((await cli(['status'], { home: path })).stderr.match(/0\.0\.1/g)).toHaveLength(1)
})

test('without --port a used port is replaced; with --port it is an error', async () => {
  const path = folder()
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  expect(await cli(['serve', '--port', String(port)], { home: path })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--port 0'),
  })
  const detached = await cli(['serve', '-d', '--port', String(port)], { home: path })
  expect(detached).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/did not start: .*agentproto logs/),
  })
  // Two homes at once: at most one has the default port.
  const [one, other] = [start(['serve'], { home: folder() }), start(['serve'], { home: folder() })]
  const urls = await Promise.all([one.line(/^http/), other.line(/^http/)])
  expect(new Set(urls).size).toBe(2)
})

test('logs -f prints new lines', async () => {
  const { path } = home()
  await cli(['serve', '-d', '--port', '0'], { home: path })
  const following = start(['logs', '-f'], { home: path })
  await following.line(/^http/)
  writeFileSync(join(path, 'logs', 'daemon.log'), 'and then\n', { flag: 'a' })
  expect(await following.line(/and then/)).toBe('and then')
  following.child.kill('SIGINT')
  expect(await following.ended).toMatchObject({ code: 130 })
})

test('F96 a session without folder and workspace runs in the folder of the user', async () => {
  const path = folder()
  await serve(path)
  const here = folder('here')
  const { stdout, stderr } = await cli(['sessions', 'start', 'demo', '--json'], { home: path, cwd: here })
  expect(JSON.parse(stdout)).toMatchObject({ cwd: here })
  expect(stderr).toContain('agentproto workspace add . --use')
})

test('F64 a signal during the start stops the gateway, and leaves neither lock nor record', async () => {
  const path = folder()
  const { child, ended } = start(['serve', '--port', '0'], { home: path })
  // The lock is taken before anything listens.
  await expect.poll(() => existsSync(join(path, 'daemon.lock')), { timeout: 60_000, interval: 1 }).toBe(true)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
  expect(existsSync(join(path, 'daemon.lock'))).toBe(false)
  expect(existsSync(join(path, 'daemon.json'))).toBe(false)
  expect(await cli(['serve', '-d', '--port', '0'], { home: path })).toMatchObject({ code: 0 })
  await cli(['stop'], { home: path })
})
