import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { nkeys } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newAuthority } from '../../../e2e/support/certificates.ts'
import { needs } from '../../../tooling/needs.ts'
import { openCluster } from '../src/cluster/cluster.ts'
import type { FleetOptions } from '../src/fleet-options.ts'
import { openLogStream } from '../src/log/log-stream.ts'
import { HOSTS_BUCKET, LOG_STREAM, SESSIONS_BUCKET } from '../src/subjects.ts'
import { fleetOptions } from './support/fleet-options.ts'
import { startNats, startNatsCluster } from './support/nats-servers.ts'
import { natsUser } from './support/nats-user.ts'

test('17.3 a connection knows its payload limit and replicas of one server', needs('nats-server'), async () => {
  const { url } = await startNats()
  const cluster = await open([url])
  expect(cluster).toMatchObject({ replicas: 1, maxPayload: 1_048_576 })
})

test('17.3 three servers store three replicas', needs('nats-server'), async () => {
  const servers = await startNatsCluster()
  const cluster = await open(servers.map(({ url }) => url))
  expect(cluster.replicas).toBe(3)
})

test(
  '17.3 a fleet that was started with one server is stored by three when there are three',
  needs('nats-server'),
  async () => {
    const servers = await startNatsCluster()
    const urls = servers.map(({ url }) => url)
    const first = await open(urls)
    await new Kvm(first.nats).create(SESSIONS_BUCKET, { replicas: 1 })
    await new Kvm(first.nats).create(HOSTS_BUCKET, { replicas: 1 })
    await openLogStream({ cluster: { ...first, replicas: 1 }, onProblem: () => undefined })
    const onProblem = vi.fn<(problem: string) => void>()
    const opened = await Promise.all([open(urls, { onProblem }), open(urls, { onProblem })])
    expect(opened.map(({ replicas }) => replicas)).toEqual([3, 3])
    const { streams } = await jetstreamManager(first.nats)
    for (const name of [`KV_${SESSIONS_BUCKET}`, `KV_${HOSTS_BUCKET}`, LOG_STREAM])
      expect((await streams.info(name)).config.num_replicas).toBe(3)
    expect(onProblem).not.toHaveBeenCalled()
  },
)

test(
  '17.7 a gateway that may not change streams says that one server stores the fleet, and joins',
  needs('nats-server'),
  async () => {
    const { publicKey, seed } = natsUser()
    const [nkey, admin] = [secretFile(Buffer.from(seed)), natsUser()]
    const deny = 'permissions: { publish: { allow: ">", deny: ["$JS.API.STREAM.UPDATE.>"] } }'
    const servers = await startNatsCluster({
      config: `accounts { a { jetstream: enabled, users: [{ nkey: ${publicKey}, ${deny} }, { nkey: ${admin.publicKey} }, { user: probe, password: probe }] } }
no_auth_user: probe`,
    })
    const urls = servers.map(({ url }) => url)
    const first = await open(urls, { nkey })
    await new Kvm(first.nats).create(SESSIONS_BUCKET, { replicas: 1 })
    const onProblem = vi.fn<(problem: string) => void>()
    expect((await open(urls, { nkey, onProblem })).replicas).toBe(1)
    expect(onProblem.mock.calls.flat().filter((problem) => problem.includes('--replicas=3'))).toHaveLength(1)
    const granted = await open(urls, { nkey: secretFile(Buffer.from(admin.seed)) })
    expect(granted.replicas).toBe(3)
  },
)

test('17.3 a lost connection is made again, after any time, and both are reported', needs('nats-server'), async () => {
  const server = await startNats()
  const onProblem = vi.fn<(problem: string) => void>()
  const cluster = await open([server.url], { onProblem })
  await server.kill()
  await expect.poll(() => onProblem.mock.calls.flat().join()).toContain('is lost')
  await server.start()
  await expect.poll(() => onProblem.mock.calls.flat().join(), { timeout: 5_000 }).toContain('is connected')
  expect(await (await jetstreamManager(cluster.nats)).getAccountInfo()).toBeDefined()
})

test('17.3 a frozen server is left for another one', needs('nats-server'), async () => {
  const servers = await startNatsCluster()
  const onProblem = vi.fn<(problem: string) => void>()
  const cluster = await open(
    servers.map(({ url }) => url),
    { onProblem, leaseMs: 2_000 },
  )
  const first = cluster.nats.getServer()
  const frozen = servers.find(({ url }) => url.endsWith(first))
  frozen?.freeze()
  await expect.poll(() => cluster.nats.getServer(), { timeout: 10_000 }).not.toBe(first)
  frozen?.thaw()
})

test('17.3 no server: cluster_unavailable', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const address = holder.address()
  const port = typeof address === 'object' ? address?.port : 0
  await once(holder.close(), 'close')
  await expect(open([`nats://127.0.0.1:${port}`])).rejects.toMatchObject({ code: 'cluster_unavailable' })
})

test('17.3 a server without JetStream: cluster_unsupported, with what to do', needs('nats-server'), async () => {
  const { url } = await startNats({ jetstream: false })
  await expect(open([url])).rejects.toMatchObject({
    code: 'cluster_unsupported',
    message: expect.stringContaining('-js') as string,
  })
})

test('17.7 an nkey is accepted, a wrong one and none are not', needs('nats-server'), async () => {
  const [right, wrong] = [nkeys.createUser(), nkeys.createUser()]
  const { url } = await startNats({
    config: `authorization { users = [ { nkey: ${right.getPublicKey()} } ] }`,
  })
  const nkey = secretFile(Buffer.from(right.getSeed()))
  const cluster = await open([url], { nkey })
  expect(cluster.replicas).toBe(1)
  const refused = { code: 'cluster_unavailable', message: expect.stringContaining('does not accept') as string }
  await expect(open([url], { nkey: secretFile(Buffer.from(wrong.getSeed())) })).rejects.toMatchObject(refused)
  await expect(open([url])).rejects.toMatchObject(refused)
})

test(
  '17.7 a user without the right to ask JetStream: cluster_unsupported names the subject',
  needs('nats-server'),
  async () => {
    const user = nkeys.createUser()
    const { url } = await startNats({
      config: `authorization { users = [ { nkey: ${user.getPublicKey()}, permissions: { publish: "agentproto.>" } } ] }`,
    })
    await expect(open([url], { nkey: secretFile(Buffer.from(user.getSeed())) })).rejects.toMatchObject({
      code: 'cluster_unsupported',
      message: expect.stringContaining('$JS.API') as string,
    })
  },
)

test(
  '17.7 TLS: the certificate of the server is checked, with the CA of the options',
  needs('nats-server'),
  async () => {
    const { ca, cert, key } = certificates()
    const { url } = await startNats({
      config: `tls { cert_file: "${cert}", key_file: "${key}", ca_file: "${ca}", verify: true }`,
    })
    const named = url.replace('127.0.0.1', 'localhost')
    const cluster = await open([named], { tls: { ca, cert, key } })
    expect(cluster.nats.info?.tls_required).toBe(true)
    await expect(open([named], { tls: { cert, key } })).rejects.toMatchObject({ code: 'cluster_unavailable' })
    await expect(open([named], { tls: { ca } })).rejects.toMatchObject({ code: 'cluster_unavailable' })
  },
)

test(
  '17.7 TLS by IP address: the certificate must be for one of the addresses that are given',
  needs('nats-server'),
  async () => {
    const authority = newAuthority()
    const ca = secretFile(Buffer.from(authority.cert))
    const started = async (hosts: readonly string[]): Promise<string> => {
      const issued = authority.issue({ name: 'nats', hosts })
      const [cert, key] = [issued.cert, issued.key].map((pem) => secretFile(Buffer.from(pem)))
      const { url } = await startNats({ config: `tls { cert_file: "${cert}", key_file: "${key}" }` })
      return url.replace('nats:', 'tls:')
    }
    const [right, other, named] = await Promise.all([['127.0.0.1'], ['127.0.0.2'], ['localhost']].map(started))
    const cluster = await open([right ?? ''], { tls: { ca } })
    expect(cluster.nats.info?.tls_required).toBe(true)
    for (const [server, says] of [
      [other, /127\.0\.0\.1 is not in the cert's list: 127\.0\.0\.2/],
      [named, /127\.0\.0\.1 is not in the cert's list/],
    ] as const)
      await expect(open([server ?? ''], { tls: { ca } })).rejects.toMatchObject({
        code: 'cluster_unavailable',
        message: expect.stringMatching(says) as string,
      })
    await expect(open([right ?? ''], { tls: {} })).rejects.toMatchObject({ code: 'cluster_unavailable' })
    const byName = (named ?? '').replace('127.0.0.1', 'localhost')
    await open([byName, 'tls://127.0.0.1:1'], { tls: { ca } })
    await expect(open([byName.replace('localhost', '127.0.0.1')], { tls: { ca } })).rejects.toThrow(/altnames/)
  },
)

test('17.7 TLS that the options ask for is never left out', needs('nats-server'), async () => {
  const { url } = await startNats()
  const named = url.replace('127.0.0.1', 'localhost')
  await expect(open([named.replace('nats:', 'tls:')])).rejects.toMatchObject({ code: 'cluster_unavailable' })
  await expect(open([named], { tls: {} })).rejects.toMatchObject({ code: 'cluster_unavailable' })
})

test.each([
  ['a secret that others can read', () => ({ nkey: secretFile(nkeys.createUser().getSeed(), 0o640) }), 'mode 0640'],
  ['a file that is missing', () => ({ nkey: '/nonexistent/nkey' }), 'cannot be read'],
  ['a relative path', () => ({ nkey: 'nkey' }), 'relative'],
  ['a folder', () => ({ nkey: tmpdir() }), 'not a file'],
  ['a file that is no nkey', () => ({ nkey: secretFile(Buffer.from('hello')) }), 'is invalid'],
  ['a file that is no credentials', () => ({ credentials: secretFile(Buffer.from('hello')) }), 'is invalid'],
  ['a CA that is none', () => ({ tls: { ca: secretFile(Buffer.from('hello')) } }), 'is invalid'],
  ['a certificate without its key', () => ({ tls: { cert: '/nonexistent' } }), 'needs its key'],
  ['two ways to log in', () => ({ nkey: '/a', credentials: '/b' }), 'not both'],
  ['a password in the address', () => ({ servers: ['nats://me:secret@127.0.0.1:4222'] }), 'with @'],
  ['another scheme', () => ({ servers: ['http://127.0.0.1'] }), 'is invalid'],
  ['a lease of no time', () => ({ leaseMs: 0 }), 'lease'],
] satisfies readonly [string, () => Partial<FleetOptions>, string][])(
  '17.7 options are rejected before a connection: %s',
  async (_, options, says) => {
    const given = options()
    await expect(open(['nats://127.0.0.1:1'], given)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(says) as string,
    })
    await expect(open(['nats://127.0.0.1:1'], given)).rejects.not.toThrow(/hello|secret@/)
  },
)

test('17.3 closing leaves no timer, also while the server is away', needs('nats-server'), async () => {
  const before = timers()
  const server = await startNats()
  const cluster = await openCluster(fleetOptions([server.url]))
  await server.kill()
  await expect.poll(() => cluster.nats.isClosed() || timers() > before).toBe(true)
  await cluster.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect(timers()).toBeLessThanOrEqual(before)
})

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length

async function open(servers: readonly string[], more: Partial<FleetOptions> = {}): ReturnType<typeof openCluster> {
  const cluster = await openCluster(fleetOptions(servers, more))
  onTestFinished(() => cluster.close())
  return cluster
}

function secretFile(content: Uint8Array, mode = 0o600): string {
  const path = join(folder(), 'secret')
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'agentproto-fleet-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A CA that signs one certificate for localhost, of server and client. */
function certificates(): { readonly ca: string; readonly cert: string; readonly key: string } {
  const authority = newAuthority()
  const { cert, key } = authority.issue({ name: 'localhost', hosts: ['localhost'] })
  return {
    ca: secretFile(Buffer.from(authority.cert)),
    cert: secretFile(Buffer.from(cert)),
    key: secretFile(Buffer.from(key)),
  }
}
