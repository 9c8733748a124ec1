import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGatewayTokens } from '@agentproto/secrets'
import { expect, onTestFinished, test } from 'vitest'
import { folder, type Ended } from './cli-process.js'
import { runHere } from './run-here.js'

// The tokens that `remote login` stores, in commands that AGENTPROTO_URL points at a gateway elsewhere.

const TOKEN = 'agp_stored-token-4711'

interface Seen {
  readonly url: string
  readonly port: number
  /** The Authorization of each request. */
  readonly sent: readonly (string | undefined)[]
}

/** Something that records what it is sent. */
async function recorder(answer: { status: number; headers?: Record<string, string> }): Promise<Seen> {
  const sent: (string | undefined)[] = []
  const server = createServer((request, response) => {
    sent.push(request.headers.authorization)
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end('{"sessions":[],"code":"unauthorized","detail":"no"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, sent }
}

/** Lists sessions in a home with a token for one address. */
async function listAt(url: string, storedFor: string, env: Record<string, string> = {}): Promise<Ended> {
  const home = folder()
  const tokens = createGatewayTokens({ home, env: {}, onWarning: () => {} })
  await tokens.set(storedFor, TOKEN, { place: 'file' })
  return runHere(['sessions', '--json'], { home, env: { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: '', ...env } })
}

test('AGENTPROTO_URL: the token that is stored for this address is sent; AGENTPROTO_TOKEN overrides it', async () => {
  const { url, sent } = await recorder({ status: 200 })
  expect(await listAt(`${url}/`, url)).toMatchObject({ code: 0 })
  await listAt(url, url, { AGENTPROTO_TOKEN: 'agp_of-the-environment' })
  expect(sent).toEqual([`Bearer ${TOKEN}`, 'Bearer agp_of-the-environment'])
})

test('AGENTPROTO_URL: a stored token that is rejected is not shown, and the command that replaces it is', async () => {
  const { url } = await recorder({ status: 401 })
  const { code, stdout, stderr } = await listAt(url, url)
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
  expect(stderr).toContain('does not accept the stored token')
  expect(stderr).toContain(`agentproto remote login ${url}`)
  expect(stderr).not.toContain(TOKEN)
})

test.each([
  ['another port', (url: string) => url.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))],
  ['another name of the same machine', (url: string) => url.replace('127.0.0.1', 'localhost')],
  ['another scheme', (url: string) => url.replace('http:', 'https:')],
  ['a path', (url: string) => `${url}/team`],
])('AGENTPROTO_URL: a token that is stored for %s is not sent', async (_what, other) => {
  const { url, sent } = await recorder({ status: 401 })
  const refused = await listAt(url, other(url))
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('needs a token') })
  expect(sent).toEqual([undefined])
})

test.each([301, 302, 307, 308])('AGENTPROTO_URL: no redirect (%d) leads a token elsewhere', async (status) => {
  const other = await recorder({ status: 200 })
  const { url, sent } = await recorder({ status, headers: { location: `${other.url}/sessions` } })
  expect((await listAt(url, url)).code).not.toBe(0)
  expect([sent, other.sent]).toEqual([[`Bearer ${TOKEN}`], []])
})

test('AGENTPROTO_URL: a stored token is not sent in plain HTTP to an address that is not loopback', async () => {
  const { port, sent } = await recorder({ status: 401 })
  // It leads to this machine, and its name does not say so.
  const url = `http://0.0.0.0:${port}`
  const { code, stderr } = await listAt(url, url)
  expect({ code, sent }).toEqual({ code: 5, sent: [undefined] })
  expect(stderr).toContain('a stored one is not sent in plain HTTP')
  expect(stderr).not.toContain(TOKEN)
})
