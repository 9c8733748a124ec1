import { EventEmitter, once } from 'node:events'
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import { generateKeyPairSync } from 'node:crypto'
import { createGateway, type Gateway, type GatewayOptions, type TlsOptions } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { newAuthority, type Issued } from './support/certificates.js'
import { temporaryFolder } from './support/temporary-folder.js'

// `listen({ tls })` on real sockets: what it serves, which clients it refuses, which files it does not accept.

const LOCAL = ['localhost', '127.0.0.1']

/** The files of a certificate, with a private key file. */
function filesOf({ cert, key }: Issued, folder = temporaryFolder('tls')): { cert: string; key: string } {
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key, { mode: 0o600 })
  return files
}

interface Served {
  readonly gateway: Gateway
  readonly url: string
  readonly token: string
  readonly home: string
  readonly problems: string[]
}

async function served(tls: Partial<TlsOptions>, options: GatewayOptions = {}): Promise<Served> {
  const home = temporaryFolder('home')
  const problems: string[] = []
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: home }
  const onProblem = (problem: string): void => void problems.push(problem)
  const gateway = await createGateway({ home, cwd: home, env, onProblem, ...options })
  onTestFinished(() => gateway.close())
  return { gateway, home, problems, ...(await gateway.listen({ port: 0, tls })) }
}

interface Answer {
  readonly status: number | undefined
  readonly body: string
  /** Common name of the server certificate. */
  readonly shown: string | undefined
}

/** One request on a new connection. */
function call(url: string, { token, ...options }: RequestOptions & { token?: string } = {}): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, headers, ...options }, (response) => {
      const { socket } = response as typeof response & { socket: TLSSocket }
      const shown = String(socket.getPeerCertificate().subject.CN)
      text(response).then((body) => resolve({ status: response.statusCode, body, shown }), reject)
    })
    sent.on('error', reject).end()
  })
}

test('TLS: the port answers https alone, to clients that trust the certificate', async () => {
  const authority = newAuthority()
  const { url, token } = await served(filesOf(authority.issue({ name: 'one', hosts: LOCAL })))
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  const ca = authority.cert
  expect(await call(`${url}/sessions`, { ca, token })).toMatchObject({ status: 200, shown: 'one' })
  expect(await call(`${url}/sessions`, { ca })).toMatchObject({ status: 401 })
  await expect(call(`${url}/health`)).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  const plain = plainRequest(url.replace('https:', 'http:'), { path: '/health' })
  plain.end()
  await expect(once(plain, 'response')).rejects.toThrow()
})

test('mTLS: a client without a certificate, or with an unknown one, gets no response', async () => {
  const [authority, clients, strangers] = [newAuthority(), newAuthority('Clients'), newAuthority('Strangers')]
  const files = filesOf(authority.issue({ name: 'one', hosts: LOCAL }))
  const { url, token } = await served({ ...files, clientCa: clients.cert })
  const ca = authority.cert
  const known = clients.issue({ name: 'me' })
  expect(await call(`${url}/sessions`, { ca, token, ...known })).toMatchObject({ status: 200 })
  expect(await call(`${url}/sessions`, { ca, ...known })).toMatchObject({ status: 401 })
  await expect(call(`${url}/health`, { ca, token })).rejects.toThrow()
  await expect(call(`${url}/health`, { ca, token, ...strangers.issue({ name: 'me' }) })).rejects.toThrow()
  await expect(call(`${url}/health`, { ca, token, ...clients.issue({ name: 'old', to: -0.5 }) })).rejects.toThrow()
})

test('agents get a loopback address that they can use, and that named tokens cannot', async () => {
  const [authority, clients] = [newAuthority(), newAuthority('Clients')]
  const files = filesOf(authority.issue({ name: 'one', hosts: ['elsewhere.example'] }))
  const { gateway, home, url } = await served({ ...files, clientCa: clients.cert })
  const record = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { url: string; local: string }
  expect(record.url).toBe(url)
  expect(record.local).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const owner = { type: 'owner', name: 'owner' } as const
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home, permissionMode: 'approve-all' }, owner)
  const ask = `node -e 'fetch(process.env.AGENTPROTO_URL + "/sessions", { headers: { authorization: "Bearer " + process.env.AGENTPROTO_TOKEN } }).then((r) => r.text()).then(console.log)'`
  const { turn } = await gateway.sessions.prompt(id, { prompt: `run ${ask} > printed` }, owner)
  await gateway.sessions.waitTurn(id, turn)
  expect(readFileSync(join(home, 'printed'), 'utf8')).toContain(id)
  const named = await gateway.tokens.create({ name: 'dashboard', scope: 'read' })
  const status = async (token: string): Promise<number> =>
    (await fetch(`${record.local}/sessions`, { headers: { authorization: `Bearer ${token}` } })).status
  expect([await status(gateway.token), await status(named.token), await status('unknown')]).toEqual([200, 403, 401])
})

test('new files replace a certificate; half of a pair changes nothing', async () => {
  const authority = newAuthority()
  const [one, two] = ['one', 'two'].map((name) => authority.issue({ name, hosts: LOCAL })) as [Issued, Issued]
  const files = filesOf(one)
  const { url, token, problems } = await served(files)
  const ca = authority.cert
  const shown = async (): Promise<string | undefined> => (await call(`${url}/sessions`, { ca, token })).shown
  const before = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ca })
  onTestFinished(() => void before.destroy())
  await once(before, 'secureConnect')
  expect(await shown()).toBe('one')
  replace(files.cert, two.cert)
  expect(await shown()).toBe('one')
  expect(problems).toEqual([expect.stringContaining('listen.tls.key is not the key of listen.tls.cert')])
  expect(await shown()).toBe('one')
  expect(problems).toHaveLength(1)
  replace(files.key, two.key)
  expect(await shown()).toBe('two')
  rmSync(files.cert)
  expect(await shown()).toBe('two')
  // An existing connection stays open.
  before.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect(String((await once(before, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/)
})

function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

test('a close waits for requests in progress, and closes idle connections at once', async () => {
  const { cert, issue } = newAuthority()
  const home = temporaryFolder('home')
  const gateway = await createGateway({ home, cwd: home })
  onTestFinished(() => gateway.close())
  const slow = new EventEmitter()
  gateway.app.get('/slow', async (c) => {
    slow.emit('asked')
    await once(slow, 'released')
    return c.text('late')
  })
  const { url, token } = await gateway.listen({ port: 0, tls: issue({ name: 'one', hosts: LOCAL }) })
  const isAsked = once(slow, 'asked')
  const late = call(`${url}/slow`, { ca: cert, token })
  await isAsked
  const idle = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ca: cert })
  onTestFinished(() => void idle.destroy())
  await once(idle, 'secureConnect')
  const ended = once(idle, 'close')
  const closed = gateway.close()
  await ended
  slow.emit('released')
  expect(await late).toMatchObject({ status: 200, body: 'late' })
  await closed
})

test('a key that others can read is reported', async () => {
  const files = filesOf(newAuthority().issue({ name: 'one', hosts: LOCAL }))
  chmodSync(files.key, 0o644)
  expect((await served(files)).problems).toEqual([`listen.tls.key can be read by others: chmod 600 ${files.key}`])
})

test('a certificate that expires soon is reported', async () => {
  const soon = newAuthority().issue({ name: 'one', hosts: LOCAL, to: 2.5 })
  expect((await served(soon)).problems).toEqual(['listen.tls.cert expires within 3 days'])
})

const authority = newAuthority()
const good = authority.issue({ name: 'good', hosts: LOCAL })
const locked = generateKeyPairSync('ec', {
  namedCurve: 'prime256v1',
  privateKeyEncoding: { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' },
  publicKeyEncoding: { format: 'pem', type: 'spki' },
}).privateKey

test.each<[string, Partial<TlsOptions>, string, string]>([
  ['no key', { cert: good.cert }, 'invalid_request', 'listen.tls.key is missing'],
  ['no certificate', { key: good.key }, 'invalid_request', 'listen.tls.cert is missing'],
  ['client certificates without TLS', { clientCa: authority.cert }, 'invalid_request', 'listen.tls.cert is missing'],
  [
    'a file that is not there',
    { ...good, cert: '/nowhere/cert.pem' },
    'path_invalid',
    'listen.tls.cert cannot be read',
  ],
  ['a folder', { ...good, key: '/' }, 'path_invalid', 'listen.tls.key cannot be read'],
  ['another key', { ...good, key: authority.key }, 'listen_failed', 'listen.tls.key is not the key of listen.tls.cert'],
  ['a key for a certificate', { ...good, cert: good.key }, 'listen_failed', 'listen.tls.cert contains no certificate'],
  ['a certificate for a key', { ...good, key: good.cert }, 'listen_failed', 'listen.tls.key contains no private key'],
  [
    'a broken certificate',
    { ...good, cert: good.cert.replace('MII', 'MIJ') },
    'listen_failed',
    'listen.tls.cert contains',
  ],
  ['a locked key', { ...good, key: locked }, 'listen_failed', 'listen.tls.key has a passphrase'],
  ['an old one', authority.issue({ name: 'old', to: -0.5 }), 'listen_failed', 'listen.tls.cert has expired'],
  ['a future one', authority.issue({ name: 'new', from: 1 }), 'listen_failed', 'listen.tls.cert is not valid yet'],
  [
    'an empty list',
    { ...good, clientCa: Buffer.from('') },
    'listen_failed',
    'listen.tls.clientCa contains no certificate',
  ],
])('%s refuses the start, naming the field', async (_, tls, code, message) => {
  await expect(served(tls)).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string })
})

test('listen.tls of config.json is used, and the caller overrides single fields', async () => {
  const clients = newAuthority('Clients')
  const files = filesOf(authority.issue({ name: 'configured', hosts: LOCAL }))
  const clientCa = join(temporaryFolder('tls'), 'clients.pem')
  writeFileSync(clientCa, clients.cert)
  const home = temporaryFolder('home')
  writeFileSync(join(home, 'config.json'), JSON.stringify({ listen: { port: 0, tls: { ...files, clientCa } } }))
  const ca = authority.cert
  const gateway = await createGateway({ home, cwd: home })
  onTestFinished(() => gateway.close())
  const configured = await gateway.listen()
  expect(await call(`${configured.url}/health`, { ca, ...clients.issue({ name: 'me' }) })).toMatchObject({
    status: 200,
    shown: 'configured',
  })
  await expect(call(`${configured.url}/health`, { ca })).rejects.toThrow()
  // Another certificate does not remove the requirement of client certificates.
  const { url } = await gateway.listen({ tls: good })
  expect(await call(`${url}/health`, { ca, ...clients.issue({ name: 'me' }) })).toMatchObject({ shown: 'good' })
  await expect(call(`${url}/health`, { ca })).rejects.toThrow()
})
