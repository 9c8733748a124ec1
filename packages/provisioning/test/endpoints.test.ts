import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { DoctorCheck, DoctorRequest } from '@agentproto/contracts/wire'
import { manifestTemplate } from '@agentproto/manifest'
import { readAgentCli } from '@agentproto/manifest/node'
import { addAdapter, addEndpoint, planEndpoint } from '@agentproto/provisioning'
import { examineAgent } from '@agentproto/provisioning/doctor'
import { expect, onTestFinished, test } from 'vitest'
import { newAuthority } from '../../../e2e/support/certificates.ts'
import { startRemoteAgent } from '../../arms/acp/test/fixtures/remote-agent.ts'
import { ManifestCatalog } from '../src/catalog/manifest-catalog.ts'
import { folder, hostOf, type TestHost } from './test-host.ts'

const ENDPOINT = { url: 'wss://build.example/acp', headers: { authorization: 'Bearer {secret:build-server}' } }

function put(at: string, endpoint: { readonly url: string } = ENDPOINT): string {
  const directory = join(at, 'build')
  mkdirSync(directory, { recursive: true })
  for (const [name, text] of manifestTemplate({ id: 'build', protocol: 'acp', endpoint }))
    writeFileSync(join(directory, name), text)
  return directory
}

function catalogOf(path: string, source: AdapterSummary['source']) {
  const problems: string[] = []
  const catalog = new ManifestCatalog({
    folders: async () => [{ path, source }],
    isInstalled: async () => true,
    onProblem: (problem) => problems.push(problem),
  })
  return { catalog, problems }
}

test.each(['user', 'host'] as const)('an adapter of the owner (%s) may say where its agent runs', async (source) => {
  const path = folder('adapters')
  put(path)
  expect(await catalogOf(path, source).catalog.get('build')).toMatchObject({
    endpoint: { url: ENDPOINT.url, headers: ['authorization'], secrets: ['build-server'] },
  })
})

test.each(['workspace', 'bundled'] as const)('one of another source (%s) is left out, and says why', async (source) => {
  const path = folder('adapters')
  put(path)
  const { catalog, problems } = catalogOf(path, source)
  expect(await catalog.list()).toEqual([])
  await expect(catalog.get('build')).rejects.toMatchObject({
    code: 'manifest_invalid',
    message: expect.stringContaining('only the owner'),
  })
  expect(problems).toEqual([expect.stringContaining(ENDPOINT.url)])
})

test('a folder that is a link is left out: what it leads to may be changed by others', async () => {
  const path = folder('adapters')
  symlinkSync(put(folder('checkout')), join(path, 'build'))
  const { catalog } = catalogOf(path, 'user')
  await expect(catalog.get('build')).rejects.toMatchObject({ message: expect.stringContaining('is a link') })
})

test('a manifest that gains an endpoint later is left out from then on', async () => {
  const path = folder('adapters')
  const directory = put(path)
  const { catalog } = catalogOf(path, 'workspace')
  const plain = manifestTemplate({ id: 'build', protocol: 'acp' })
  for (const [name, text] of plain) writeFileSync(join(directory, name), text)
  expect(await catalog.get('build')).not.toHaveProperty('endpoint')
  put(path)
  await expect(catalog.get('build')).rejects.toMatchObject({ code: 'manifest_invalid' })
})

test('a folder with an endpoint is not added', async () => {
  const host = hostOf()
  await expect(addAdapter(put(folder('mine')), host, new AbortController().signal)).rejects.toMatchObject({
    code: 'manifest_invalid',
    parts: { given: ENDPOINT.url },
  })
})

const free = async () => undefined
const wish = { url: ENDPOINT.url, slug: 'build', secretHeaders: { authorization: 'build-server', 'x-team': 'team' } }

test('a plan names what is sent where, before anything is connected to', async () => {
  const agent = await startRemoteAgent()
  const place = new URL(agent.url).host
  const plan = await planEndpoint({ ...wish, url: agent.url, allowPrivate: true }, { host: hostOf(), sourceOf: free })
  expect(plan).toEqual({
    slug: 'build',
    url: agent.url,
    headers: ['authorization', 'x-team'],
    secrets: ['build-server', 'team'],
    addresses: ['127.0.0.1'],
    encrypted: false,
    consent: place,
  })
  const known = hostOf({ privateEndpoints: async () => [place] })
  expect(await planEndpoint({ ...wish, url: agent.url }, { host: known, sourceOf: free })).not.toHaveProperty('consent')
  expect(agent.upgrades).toEqual([])
})

test('a plan refuses what no consent allows, and a name that is taken', async () => {
  const host = hostOf()
  const parts = { host, sourceOf: free }
  await expect(planEndpoint({ ...wish, url: 'wss://224.0.0.1/', allowPrivate: true }, parts)).rejects.toMatchObject({
    code: 'endpoint_not_allowed',
  })
  await expect(planEndpoint({ ...wish, url: 'ws://93.184.215.14/', allowPrivate: true }, parts)).rejects.toMatchObject({
    code: 'endpoint_not_allowed',
  })
  await expect(planEndpoint(wish, { host, sourceOf: async () => 'bundled' as const })).rejects.toMatchObject({
    code: 'adapter_exists',
  })
  await expect(planEndpoint({ ...wish, secretHeaders: { host: 'team' } }, parts)).rejects.toMatchObject({
    code: 'manifest_invalid',
  })
  await expect(
    planEndpoint({ ...wish, secretHeaders: { 'x-a': 'team}\r\nx-b: {secret:other' } }, parts),
  ).rejects.toMatchObject({ code: 'manifest_invalid' })
})

test('adding that is cancelled, or whose consent cannot be written, writes no adapter', async () => {
  const agent = await startRemoteAgent()
  const parts = { host: hostOf(), sourceOf: free }
  const own = { url: agent.url, slug: 'build', allowPrivate: true }
  const broken = { consent: () => Promise.reject(new Error('disk full')), signal: new AbortController().signal }
  await expect(addEndpoint(own, parts, broken)).rejects.toThrow('disk full')
  const aborted = { consent: async () => {}, signal: AbortSignal.abort() }
  await expect(addEndpoint({ ...own, force: true }, parts, aborted)).rejects.toMatchObject({ code: 'cancelled' })
  expect((await readAgentCli(join(parts.host.home, 'adapters/build'))).ok).toBe(false)
})

async function checksOf(
  url: string,
  more: Partial<TestHost> = {},
  prompts: Pick<DoctorRequest, 'prompt' | 'longPrompt'> = {},
): Promise<Record<string, DoctorCheck>> {
  const host = hostOf({ privateEndpoints: async () => [new URL(url).host], ...more })
  const read = await readAgentCli(put(folder('adapters'), { url }))
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join('\n'))
  const checks: Record<string, DoctorCheck> = {}
  const request = { live: true, signal: new AbortController().signal, ...prompts }
  for await (const check of examineAgent({
    adapter: read,
    host,
    request,
  }))
    checks[check.id] = check
  return checks
}

test('a check of an agent that runs elsewhere stops at the first thing that is wrong', async () => {
  const agent = await startRemoteAgent()
  const refused = await checksOf(agent.url, { privateEndpoints: async () => [] })
  expect(refused['endpoint.address']).toMatchObject({
    verdict: 'fail',
    hint: expect.stringContaining('--allow-private'),
  })
  expect(refused).not.toHaveProperty(['endpoint.handshake'])
  expect(refused['live']).toMatchObject({ verdict: 'skip' })
  expect(agent.upgrades).toEqual([])
  agent.refuses = 404
  expect((await checksOf(agent.url))['endpoint.handshake']).toMatchObject({ verdict: 'fail' })
})

test('a certificate of an unknown authority is a failure, whatever the environment says of verification', async () => {
  const { cert, key } = newAuthority().issue({ name: 'localhost', hosts: ['localhost', '127.0.0.1'] })
  const server = createServer({ cert, key }, (socket) => socket.on('error', () => {}).end())
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  onTestFinished(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
  })
  const checks = await checksOf(`wss://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(checks['endpoint.tls']).toMatchObject({ verdict: 'fail', detail: expect.stringMatching(/certificate/i) })
  expect(checks).not.toHaveProperty(['endpoint.handshake'])
})

test('the live check of an agent that runs elsewhere uses a folder that is there too, and leaves it', async () => {
  const agent = await startRemoteAgent()
  const checks = await checksOf(agent.url, {}, { prompt: 'echo ready', longPrompt: 'hang' })
  const verdicts = Object.entries(checks).flatMap(([id, { verdict }]) => (verdict === 'fail' ? [id] : []))
  expect(verdicts).toEqual([])
  expect(checks['live.end']).toMatchObject({ verdict: 'ok' })
  expect(checks['live.resumed-prompt']).toMatchObject({ verdict: 'ok', detail: 'echo ready' })
  const cwd = realpathSync(tmpdir())
  expect(agent.sent('session/new')).toMatchObject([{ params: { cwd } }])
  expect(existsSync(cwd)).toBe(true)
})
