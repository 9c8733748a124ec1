import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@agentproto/client'
import { expect, onTestFinished, test } from 'vitest'
import { cli, folder, serve, start, type Ended } from './cli-process.js'

// Tokens for gateways elsewhere, and what `agentproto acp --remote` refuses. The gateway has a home of its own.

interface Elsewhere {
  readonly url: string
  readonly token: string
  /** Runs a command of a user with another home. */
  run(args: readonly string[], more?: { input?: string; env?: Record<string, string> }): Promise<Ended>
  readonly home: string
}

/** That of the machine is not for tests. */
const NO_KEYRING = { DBUS_SESSION_BUS_ADDRESS: '' }

async function elsewhere(): Promise<Elsewhere> {
  const [there, home] = [folder('there'), folder('here')]
  const { url } = await serve(there)
  const owner = createClient({ url, token: readFileSync(join(there, 'token'), 'utf8').trim() })
  const { token } = await owner.tokens.create({ name: 'laptop', scope: 'operate' })
  const run: Elsewhere['run'] = (args, { input, env } = {}) =>
    cli(args, { home, ...(input === undefined ? {} : { input }), env: { ...NO_KEYRING, ...env } })
  return { url, token, home, run }
}

test('a token is stored by stdin, listed without its value, used by acp --remote, and removed', async () => {
  const { url, token, home, run } = await elsewhere()
  const stored = await run(['remote', 'login', `${url.replace('http', 'ws')}/acp/demo`], { input: `${token}\n` })
  expect(stored).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('It is laptop, with the scope operate'),
  })
  const listed = await run(['remote', 'list', '--json'])
  expect(JSON.parse(listed.stdout)).toEqual({ gateways: [{ url, place: 'file', updatedAt: expect.any(String) }] })
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } }
  const bridge = start(['acp', '--remote', url], { home, env: NO_KEYRING })
  const answered = bridge.line(/"protocolVersion":1/)
  bridge.child.stdin?.write(`${JSON.stringify(initialize)}\n`)
  await answered
  bridge.child.stdin?.end()
  const bridged = await bridge.ended
  expect(bridged).toMatchObject({ code: 0, stderr: '' })
  for (const { stdout, stderr } of [stored, listed, bridged]) expect(stdout + stderr).not.toContain(token)
  expect(readFileSync(join(home, 'logs', 'audit.jsonl'), 'utf8')).toContain('"remote-login"')
  expect((await run(['remote', 'logout', url])).code).toBe(0)
  expect(await run(['remote', 'logout', url])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('remote list'),
  })
  const without = await run(['acp', '--remote', url])
  expect(without).toMatchObject({
    code: 5,
    stdout: '',
    stderr: expect.stringContaining(`agentproto remote login ${url}`),
  })
})

test('a token that the gateway rejects is not stored; one of a gateway that does not answer is, and it says so', async () => {
  const { url, run } = await elsewhere()
  const wrong = await run(['remote', 'login', url], { input: 'agp_wrong-token-of-nobody' })
  expect(wrong).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('does not accept this token, so it is not stored'),
  })
  expect(wrong.stderr).not.toContain('wrong-token-of-nobody')
  expect(JSON.parse((await run(['remote', 'list', '--json'])).stdout)).toEqual({ gateways: [] })
  const away = await run(['remote', 'login', 'https://127.0.0.1:9'], { input: 'agp_some-token-for-later' })
  expect(away).toMatchObject({ code: 0, stderr: expect.stringMatching(/stored.*not checked.*ECONNREFUSED/) })
})

test('acp --remote: a wrong token, a gateway that is not there, and one that is none are refused with what to do', async () => {
  const { url, token, run } = await elsewhere()
  const env = { AGENTPROTO_TOKEN: 'agp_wrong-token-of-nobody' }
  expect(await run(['acp', '--remote', url], { env })).toMatchObject({
    code: 5,
    stdout: '',
    stderr: expect.stringMatching(
      /does not accept the token in AGENTPROTO_TOKEN.*agentproto token create.*then set AGENTPROTO_TOKEN here/,
    ),
  })
  expect(await run(['acp', '--remote', 'https://127.0.0.1:9'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/No gateway answers at https:\/\/127.0.0.1:9: .*ECONNREFUSED.*agentproto status/),
  })
  expect(await run(['acp', '--remote', url.replace('http', 'https')], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^agentproto: https:\S+ does not speak TLS\..*http:\/\/.*\n$/),
  })
  for (const other of [await serverOf('<html>'), await serverOf('{"ok":true}'), `${url}/acp/demo/more`]) {
    expect(await run(['acp', '--remote', other], { env: { AGENTPROTO_TOKEN: token } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not as a gateway of agentproto does'),
    })
  }
})

test('acp --remote: a gateway of another version is named, and used', async () => {
  const { run } = await elsewhere()
  const url = await serverOf('{"ok":true,"version":"9.9.9","name":"x","scope":"operate"}')
  const { code, stderr } = await run(['acp', '--remote', url], { env: { AGENTPROTO_TOKEN: 'agp_whatever-it-is' } })
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/the gateway at .* is 9\.9\.9, this command is/),
  })
})

test.each([
  [['acp', '--remote', 'http://build.example.com'], '--allow-insecure'],
  [['remote', 'login', 'ws://10.0.0.4:7646'], '--allow-insecure'],
  [['acp', '--remote', 'https://agp_secret@build.example.com'], 'agentproto remote login'],
  [['acp', '--remote', 'https://build.example.com/acp?token=agp_secret'], 'agentproto remote login'],
  [['acp', '--remote', 'https://build.example.com', '--token', 'agp_secret'], 'agentproto remote login'],
  [['acp', '--token=agp_secret'], 'agentproto remote login'],
  [['remote', 'login', 'https://build.example.com', 'agp_secret'], 'agentproto remote login --help'],
  [['remote', 'login', 'https://build.example.com', '--token', 'agp_secret'], 'agentproto remote login --help'],
  [['remote', 'login', 'https://build.example.com', '--token=agp_secret'], 'agentproto remote login --help'],
  [['acp', '--remote', 'https://build.example.com/acp/demo', '--adapter', 'codex'], 'names the adapter demo'],
  [['acp', '--remote', 'https://build.example.com', '--login'], 'agentproto adapters login'],
])('%j is refused, and no token is repeated', async (args, step) => {
  const { code, stdout, stderr } = await cli(args, { home: folder(), input: 'agp_some-token-for-later' })
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(step) })
  expect(stderr).not.toContain('agp_')
})

test('the gateway of the own home needs no token', async () => {
  const home = folder()
  const { url } = await serve(home)
  expect(await cli(['acp', '--remote', url], { home })).toEqual({ code: 0, stdout: '', stderr: '' })
})

/** Something that answers everything with one text. */
async function serverOf(text: string): Promise<string> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(text),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
