import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cli, type Ended } from '../packages/cli/test/cli-process.js'
import { type Issued, newAuthority } from './support/certificates.js'
import { startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

// An agent that runs elsewhere behind TLS, whose certificate is of an authority that only the owner knows.

/** A home with the secret of the endpoint, in which commands trust an authority beside those of Node. */
async function homeOf(token: string, trusted?: Issued) {
  const home = temporaryFolder('here')
  const root = join(home, '.agentproto')
  const ca = join(home, 'ca.pem')
  if (trusted) writeFileSync(ca, trusted.cert)
  // It must not weaken what is verified.
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', ...(trusted ? { NODE_EXTRA_CA_CERTS: ca } : {}) }
  const run = (...args: readonly string[]): Promise<Ended> =>
    cli(args, { home: root, cwd: home, input: token, env: { DBUS_SESSION_BUS_ADDRESS: '', ...env } })
  await run('secrets', 'set', 'build-server', '--store', 'file')
  const add = (url: string): Promise<Ended> =>
    run('adapters', 'add', url, '--as', 'build', '--secret-header', 'authorization=build-server', '--allow-private')
  return { home, root, env, run, add }
}

test('with NODE_EXTRA_CA_CERTS, an agent behind a certificate of a private authority is added, checked and prompted', async () => {
  const authority = newAuthority()
  const { cert, key } = authority.issue({ name: 'build', hosts: ['localhost'] })
  const there = temporaryFolder('there')
  const at = (name: string, text: string): string => {
    writeFileSync(join(there, name), text, { mode: 0o600 })
    return join(there, name)
  }
  const tls = ['--tls-cert', at('cert.pem', cert), '--tls-key', at('key.pem', key)]
  const { url, token } = await startDaemon({ home: there, args: tls })
  expect(url).toMatch(/^https:/)
  const { home, env, run, add } = await homeOf(token, authority)
  expect(await add(`wss://localhost:${new URL(url).port}/acp/demo`)).toMatchObject({ code: 0, stdout: 'build\n' })
  const doctor = await run('adapters', 'doctor', 'build', '--json')
  expect(doctor.code).toBe(0)
  expect(JSON.parse(doctor.stdout)).toMatchObject({
    checks: expect.arrayContaining([
      expect.objectContaining({ id: 'endpoint.tls', verdict: 'ok' }),
      expect.objectContaining({ id: 'endpoint.handshake', verdict: 'ok' }),
    ]),
  })
  await startDaemon({ home, env })
  const answer = await run('run', 'build', '--prompt', 'hello')
  expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining('echo: hello') })
})

/** Takes no WebSocket, and records what was asked over a connection that the client has verified. */
async function listening({ cert, key }: Issued) {
  const asked: unknown[] = []
  const server = createServer({ cert, key }, (request, response) => {
    asked.push(request.headers)
    response.end()
  })
  server.on('upgrade', (request, socket) => {
    asked.push(request.headers)
    socket.end()
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `wss://localhost:${(server.address() as AddressInfo).port}/acp`, asked }
}

const known = newAuthority()
const own = { name: 'build', hosts: ['localhost'] }

test.each<[what: string, served: Issued, trusted: Issued | undefined, why: RegExp]>([
  ['of an authority that is not trusted', known.issue(own), undefined, /unable to (?:verify|get)/],
  ['of another authority', newAuthority('Another CA').issue(own), known, /unable to (?:verify|get)/],
  ['of another authority of the same name', newAuthority().issue(own), known, /signature|unable to/],
  ['that it has signed itself', newAuthority('localhost'), known, /self-signed/],
  ['for another name', known.issue({ name: 'localhost', hosts: ['other.example'] }), known, /altnames/],
  [
    'for a part of the name',
    known.issue({ name: 'localhost', hosts: ['local', 'localhost.example'] }),
    known,
    /altnames/,
  ],
  ['that has expired', known.issue({ ...own, from: -30, to: -1 }), known, /expired/],
  ['that is not valid yet', known.issue({ ...own, from: 1, to: 30 }), known, /not yet valid/],
])('a certificate %s is refused before anything is sent', async (_what, served, trusted, why) => {
  const { url, asked } = await listening(served)
  const { root, add } = await homeOf('tok-4711-build-server', trusted)
  const { code, stdout, stderr } = await add(url)
  expect({ stdout, asked, isAdded: existsSync(join(root, 'adapters/build')) }).toEqual({
    stdout: '',
    asked: [],
    isAdded: false,
  })
  expect(code).not.toBe(0)
  expect(stderr).toMatch(/The TLS connection to wss:.* failed/)
  expect(stderr).toMatch(why)
  expect(stderr).toContain('NODE_EXTRA_CA_CERTS')
  expect(stderr).not.toContain('4711')
})
