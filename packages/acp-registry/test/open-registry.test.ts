import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openRegistry, PUBLIC_REGISTRY, readRegistryFile, type RegistryOptions } from '@agentproto/acp-registry'
import { needs } from '../../../tooling/needs.ts'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { document, registryServer, temporaryFolder } from './registry-server.js'
import { documentOf, entryWith, SAMPLE_TEXT } from './sample-registry.js'

const HOUR = 60 * 60 * 1000
const ONE = documentOf(entryWith({}))
const TWO = documentOf(entryWith({}), entryWith({ id: 'second' }))

/** A registry in a home of its own. */
async function opened(url: string, options: Partial<RegistryOptions> = {}) {
  const [home, clock] = [await temporaryFolder(), new FakeClock()]
  clock.advance(1_000 * HOUR)
  return { home, clock, registry: openRegistry({ url, home, clock, ...options }) }
}

const idsOf = ({ agents }: { readonly agents: readonly { readonly id: string }[] }) => agents.map(({ id }) => id)

test('18.1 the registry is the public one unless another is named', async () => {
  expect(openRegistry({ home: await temporaryFolder() }).url).toBe(PUBLIC_REGISTRY)
})

test('18.1 a registry is asked once a day, and then only for what has changed', async () => {
  const server = await registryServer(document(ONE, { etag: '"1"' }))
  const { clock, registry } = await opened(server.url)
  expect(await registry.read()).toMatchObject({ ageMs: 0, url: server.url, problems: [] })
  clock.advance(23 * HOUR)
  expect(await registry.read()).toMatchObject({ ageMs: 23 * HOUR })
  clock.advance(HOUR)
  expect(await registry.read()).toMatchObject({ ageMs: 0 })
  server.answer = document(TWO, { etag: '"2"' })
  expect(idsOf(await registry.read())).toEqual(['sample'])
  expect(idsOf(await registry.read({ mode: 'refresh' }))).toEqual(['sample', 'second'])
  expect(server.requests).toEqual(['/registry.json - -', '/registry.json "1" -', '/registry.json "1" -'])
})

test('18.1 a server without ETag is asked by the date', async () => {
  const date = 'Mon, 02 Nov 2026 00:00:00 GMT'
  const server = await registryServer(document(ONE, { 'last-modified': date }))
  const { registry } = await opened(server.url)
  await registry.read()
  await registry.read({ mode: 'refresh' })
  expect(server.requests.at(-1)).toBe(`/registry.json - ${date}`)
})

test('18.1 the kept answer is used offline, and says how old it is', async () => {
  const server = await registryServer(document(ONE))
  const { clock, registry } = await opened(server.url)
  await expect(registry.read({ mode: 'offline' })).rejects.toMatchObject({ code: 'registry_unavailable' })
  await registry.read()
  clock.advance(100 * HOUR)
  const offline = await registry.read({ mode: 'offline' })
  expect([idsOf(offline), offline.ageMs, offline.warning, server.requests.length]).toEqual([
    ['sample'],
    100 * HOUR,
    undefined,
    1,
  ])
})

test('18.1 a server that cannot be reached leaves the kept answer, with a warning', async () => {
  const server = await registryServer(document(ONE))
  const { clock, registry, home } = await opened(server.url)
  await registry.read()
  clock.advance(48 * HOUR)
  const unreachable = openRegistry({
    url: server.url,
    home,
    clock,
    fetch: () => Promise.reject(new Error('no network')),
  })
  const read = await unreachable.read()
  expect([idsOf(read), read.ageMs]).toEqual([['sample'], 48 * HOUR])
  expect(read.warning).toContain('no network')
})

test.each([
  ['a page of a login', '<html>log in</html>', 'not JSON'],
  ['a version that is not known', '{"version":"9.0.0","agents":[]}', 'version'],
])('18.1 %s does not replace the kept answer', async (_what, text, why) => {
  const server = await registryServer(document(ONE))
  const { registry } = await opened(server.url)
  await registry.read()
  server.answer = document(text)
  const read = await registry.read({ mode: 'refresh' })
  expect(idsOf(read)).toEqual(['sample'])
  expect(read.warning).toContain(why)
  expect((await registry.read()).warning).toBeUndefined()
})

test.each([404, 500, 204, 206, 304])('18.1 the status %d without a kept answer is an error', async (status) => {
  const server = await registryServer((response) => void response.writeHead(status).end())
  const { registry } = await opened(server.url)
  await expect(registry.read()).rejects.toMatchObject({ code: 'registry_unavailable' })
})

test('18.1 the copy is for its owner alone, and another address has another one', async () => {
  const [server, other] = [await registryServer(document(ONE)), await registryServer(document(TWO))]
  const { home, clock, registry } = await opened(server.url)
  await registry.read()
  expect(idsOf(await openRegistry({ url: other.url, home, clock }).read())).toEqual(['sample', 'second'])
  const folder = join(home, 'registries')
  expect(readdirSync(folder)).toHaveLength(2)
  expect(readdirSync(folder).map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8))).toEqual([
    '600',
    '600',
  ])
  expect((statSync(folder).mode & 0o777).toString(8)).toBe('700')
})

test.each(['', 'not JSON', '{"url": 5}', '[]'])('18.1 a copy that was damaged (%j) is read again', async (damage) => {
  const server = await registryServer(document(ONE, { etag: '"1"' }))
  const { home, registry } = await opened(server.url)
  await registry.read()
  const [name = ''] = readdirSync(join(home, 'registries'))
  writeFileSync(join(home, 'registries', name), damage)
  expect(idsOf(await registry.read())).toEqual(['sample'])
  expect(server.requests).toEqual(['/registry.json - -', '/registry.json - -'])
  expect(JSON.parse(readFileSync(join(home, 'registries', name), 'utf8'))).toMatchObject({ url: server.url })
})

test('18.1 what cannot be kept in the home is read all the same, with a warning', async () => {
  const server = await registryServer(document(ONE))
  const { home, registry } = await opened(server.url)
  symlinkSync(join(home, 'missing', 'folder'), join(home, 'registries'))
  const read = await registry.read()
  expect(idsOf(read)).toEqual(['sample'])
  expect(read.warning).toContain('copy of the registry')
})

test('18.1 a copy from the future is not young', async () => {
  const server = await registryServer(document(ONE))
  const { home, registry } = await opened(server.url)
  await registry.read()
  const early = openRegistry({ url: server.url, home, clock: new FakeClock() })
  expect(await early.read()).toMatchObject({ ageMs: 0, confirmedAt: 0 })
  expect(server.requests).toHaveLength(2)
})

test.each([
  'http://registry.example/registry.json',
  'http://127.0.0.1.registry.example/',
  'http://localhost.example/',
  'ftp://registry.example/',
  'file:///etc/passwd',
  'https://user:word@registry.example/',
  'registry.example',
  '',
])('18.1 the address %j is refused', async (url) => {
  const home = await temporaryFolder()
  expect(() => openRegistry({ url, home })).toThrow(expect.objectContaining({ code: 'registry_invalid' }))
  expect(() => openRegistry({ url, home })).not.toThrow('word@')
})

test('18.1 a redirect on loopback is followed, and ten of them are not', async () => {
  const server = await registryServer((response, { url }) =>
    url === '/last'
      ? void response.writeHead(200).end(ONE)
      : void response.writeHead(302, { location: url === '/registry.json' ? '/last' : '/again' }).end(),
  )
  const { registry } = await opened(server.url)
  expect(idsOf(await registry.read())).toEqual(['sample'])
  const circle = await opened(server.url.replace('registry.json', 'circle'))
  await expect(circle.registry.read()).rejects.toThrow('more than 5 times')
  expect(server.requests).toHaveLength(8)
})

test.each(['http://registry.example/', 'file:///etc/passwd', 'https://user:word@registry.example/', 'http://[', ''])(
  '18.1 a redirect to %j is refused and not asked',
  async (location) => {
    const server = await registryServer((response) => void response.writeHead(301, { location }).end())
    const { registry } = await opened(server.url)
    const asked: string[] = []
    const counting: typeof fetch = (input, init) => {
      asked.push(new Request(input).url)
      return fetch(input, init)
    }
    const { registry: counted } = await opened(server.url, { fetch: counting })
    await expect(registry.read()).rejects.toThrow('redirected')
    await expect(counted.read()).rejects.toMatchObject({ code: 'registry_unavailable' })
    expect(new Set(asked)).toEqual(new Set([server.url]))
  },
)

test('18.1 a server with https may not lead to http on this machine', async () => {
  const asked: string[] = []
  const answer: typeof fetch = (input) => {
    asked.push(new Request(input).url)
    return Promise.resolve(new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:7646/health' } }))
  }
  const { registry } = await opened('https://registry.example/', { fetch: answer })
  await expect(registry.read()).rejects.toThrow('not protected')
  expect(asked).toEqual(['https://registry.example/'])
})

test('18 an entry of a server elsewhere that leads to this machine is left out, also when it comes from the copy', async () => {
  const text = documentOf(
    entryWith({ distribution: { binary: { 'linux-x86_64': { archive: 'http://localhost:7646/', cmd: 'a' } } } }),
  )
  const { registry } = await opened('https://registry.example/', { fetch: () => Promise.resolve(new Response(text)) })
  for (const mode of ['refresh', 'offline'] as const)
    expect((await registry.read({ mode })).agents[0]?.distribution).toEqual({})
})

test('18.1 a document that is too large is refused, whatever its length says', async () => {
  const bomb = gzipSync(Buffer.alloc(60 * 1024 * 1024, ' '))
  const server = await registryServer(
    (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  )
  const { registry } = await opened(server.url)
  await expect(registry.read()).rejects.toMatchObject({ code: 'registry_invalid' })
  server.answer = (response) => void response.writeHead(200, { 'content-length': String(2 ** 40) }).write('{')
  await expect(registry.read()).rejects.toMatchObject({ code: 'registry_invalid' })
})

test('18.1 an answer without an end is cut off at the bound, and its connection ends', async () => {
  const chunk = Buffer.alloc(1024 * 1024, ' ')
  let [sent, ended] = [0, false]
  const server = await registryServer((response) => {
    const more = (): void => {
      while (!ended && response.write(chunk)) sent += 1
      sent += 1
    }
    response.on('drain', more).on('close', () => (ended = true))
    more()
  })
  const { registry } = await opened(server.url)
  await expect(registry.read()).rejects.toMatchObject({ code: 'registry_invalid' })
  await expect.poll(() => ended).toBe(true)
  expect(sent).toBeLessThan(100)
})

test('18.1 a server that does not answer, or stops in its answer, is given up after a minute', async () => {
  for (const begin of ['', '{"version"']) {
    const server = await registryServer((response) => begin !== '' && void response.writeHead(200).write(begin))
    const { clock, registry } = await opened(server.url)
    const reading = registry.read().catch((thrown: unknown) => thrown)
    await expect.poll(() => server.requests.length).toBe(1)
    clock.advance(60_000)
    expect(await reading).toMatchObject({ code: 'registry_unavailable' })
    expect(clock.pending).toBe(0)
  }
})

test('18.1 reading can be cancelled', async () => {
  const server = await registryServer(() => undefined)
  const { registry } = await opened(server.url)
  const cancel = new AbortController()
  const reading = registry.read({ signal: cancel.signal }).catch((thrown: unknown) => thrown)
  await expect.poll(() => server.requests.length).toBe(1)
  cancel.abort()
  expect(await reading).toMatchObject({ code: 'cancelled' })
})

test('18.1 a document and one entry are read from a file', async () => {
  const folder = await temporaryFolder()
  writeFileSync(join(folder, 'registry.json'), SAMPLE_TEXT)
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(entryWith({})))
  mkdirSync(join(folder, 'folder'))
  expect((await readRegistryFile(join(folder, 'registry.json'))).agents).toHaveLength(16)
  expect(idsOf(await readRegistryFile(join(folder, 'agent.json')))).toEqual(['sample'])
  for (const name of ['folder', 'missing.json'])
    await expect(readRegistryFile(join(folder, name))).rejects.toMatchObject({ code: 'path_invalid' })
})

test('18.1 a pipe without a writer and a device without an end are refused at once', needs('linux'), async () => {
  const folder = await temporaryFolder()
  const pipe = join(folder, 'pipe.json')
  execFileSync('mkfifo', [pipe])
  symlinkSync('/dev/zero', join(folder, 'device.json'))
  for (const path of [pipe, join(folder, 'device.json'), '/dev/zero', '/dev/tty'])
    await expect(readRegistryFile(path)).rejects.toMatchObject({ code: 'path_invalid' })
})

test('18.1 a file without an end is read up to the bound', needs('linux'), async () => {
  // A regular file of the size 0, with terabytes to read.
  await expect(readRegistryFile('/proc/self/pagemap')).rejects.toMatchObject({
    code: 'registry_invalid',
    message: expect.stringContaining('too large') as string,
  })
})
