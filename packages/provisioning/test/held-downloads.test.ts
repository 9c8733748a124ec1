import { createServer } from 'node:http'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { heldSha256, holdDownload } from '../src/registry/held-downloads.ts'
import { acpProgram } from './acp-program.ts'
import { binaryEntry, follow, leftIn, registryWorld, sha256Of } from './registry-world.ts'
import { hostOf, serveFiles, textAt } from './test-host.ts'

const TIMEOUT = { timeout: 240_000 }
const FIRST = acpProgram('1.0.0')
const OTHER = `${FIRST}// changed\n`
const TRUST = { allowUnverified: true }

test('18.2 an agent that was removed and is added again takes no other file from its address', TIMEOUT, async () => {
  const files: Record<string, string> = { '/sample-acp': FIRST }
  const { url } = await serveFiles(files)
  const { adapters, host, publish } = await registryWorld()
  publish(binaryEntry(`${url}/sample-acp`))
  expect((await follow(adapters.addAgent('sample', TRUST))).error).toBeUndefined()
  const file = join(host.home, 'held-downloads.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await adapters.remove('sample')

  files['/sample-acp'] = OTHER
  // Also as another version, and by a part of the address that is not sent.
  publish({ ...binaryEntry(`${url}/sample-acp#2`), version: '2.0.0' })
  const { error, events } = await follow(adapters.addAgent('sample', TRUST))
  expect(events[0]).toMatchObject({ plan: { sha256: sha256Of(FIRST) } })
  expect(error).toMatchObject({
    code: 'install_failed',
    message: expect.stringMatching(
      new RegExp(`^Another file .*${sha256Of(FIRST)}.*--sha256 ${sha256Of(OTHER)}\\.$`, 's'),
    ),
    parts: { data: { sha256: sha256Of(OTHER) } },
  })
  expect(leftIn(host)).toEqual([])

  // What its owner says counts from then on.
  expect((await follow(adapters.addAgent('sample', { sha256: sha256Of(OTHER) }))).error).toBeUndefined()
  await adapters.remove('sample')
  expect((await follow(adapters.addAgent('sample', {}))).error).toBeUndefined()
  files['/sample-acp'] = FIRST
  expect((await follow(adapters.update('sample', {}))).events).toContainEqual(
    expect.objectContaining({ phase: 'install', state: 'skipped' }),
  )
  await adapters.remove('sample')
  expect((await follow(adapters.addAgent('sample', TRUST))).error?.message).toContain(sha256Of(OTHER))
})

test('18.2 a first download is held before it is run, also if the agent is not added', TIMEOUT, async () => {
  const silent = '#!/bin/sh\nexit 3\n'
  const files: Record<string, string> = { '/sample-acp': silent }
  const { url } = await serveFiles(files)
  const { adapters, host, publish } = await registryWorld()
  publish(binaryEntry(`${url}/sample-acp`))
  expect((await follow(adapters.addAgent('sample', TRUST))).error?.code).toBe('handshake_failed')
  expect(await heldSha256(`${url}/sample-acp`, host)).toBe(sha256Of(silent))
  files['/sample-acp'] = FIRST
  expect((await follow(adapters.addAgent('sample', TRUST))).error?.message).toContain('Another file')
})

test('18.2 a file that cannot be unpacked is not held: nothing of it could run', TIMEOUT, async () => {
  const { url } = await serveFiles({ '/sample.tar.gz': gzipSync(FIRST.repeat(100)).subarray(0, 200) })
  const { adapters, host, publish } = await registryWorld()
  publish(binaryEntry(`${url}/sample.tar.gz`))
  expect((await follow(adapters.addAgent('sample', TRUST))).error?.code).toBe('install_failed')
  expect(await heldSha256(`${url}/sample.tar.gz`, host)).toBeUndefined()
})

test('18.2 a redirect to another file is refused: what is held is of the address of the entry', TIMEOUT, async () => {
  let at = '/first'
  const files: Readonly<Record<string, string>> = { '/first': FIRST, '/other': OTHER }
  const server = createServer(({ url = '' }, response) => {
    if (url === '/sample-acp') return void response.writeHead(302, { location: at }).end()
    response.end(files[url])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { adapters, publish } = await registryWorld()
  publish(binaryEntry(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sample-acp`))
  expect((await follow(adapters.addAgent('sample', TRUST))).error).toBeUndefined()
  await adapters.remove('sample')
  at = '/other'
  expect((await follow(adapters.addAgent('sample', TRUST))).error?.message).toContain('Another file')
  at = '/first'
  expect((await follow(adapters.addAgent('sample', {}))).error).toBeUndefined()
})

test(
  '18.2 of two that are given different files at one address for the first time, one is refused',
  TIMEOUT,
  async () => {
    let asked = 0
    const server = createServer((request, response) => {
      if (request.method === 'HEAD') return void response.end()
      response.end(asked++ === 0 ? FIRST : OTHER)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { adapters, publish } = await registryWorld()
    publish(binaryEntry(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sample-acp`))
    const both = await Promise.all(
      ['one', 'two'].map((slug) => follow(adapters.addAgent('sample', { ...TRUST, slug }))),
    )
    const refused = both.flatMap(({ error }) => error ?? [])
    expect(refused).toEqual([expect.objectContaining({ message: expect.stringContaining('Another file') })])
  },
)

test('18.2 of many writers at once the first one counts, and nothing is lost', async () => {
  const host = hostOf()
  const url = 'https://a.example/agent'
  const sums = Array.from({ length: 12 }, (_, index) => index.toString(16).repeat(64))
  const writes = sums.flatMap((sha256, index) => [
    holdDownload({ url, sha256, verified: false }, host),
    holdDownload({ url: `${url}-${index}`, sha256, verified: false }, host),
  ])
  const settled = await Promise.allSettled(writes)
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(sums.length - 1)
  const held = await heldSha256(url, host)
  expect(sums).toContain(held)
  for (const [index, sum] of sums.entries()) expect(await heldSha256(`${url}-${index}`, host)).toBe(sum)
})

test.each([
  ['is cut short', '{"version":1,"downloads":[{"url":"https://a.exam'],
  ['is empty', ''],
  ['has a checksum that is none', '{"version":1,"downloads":[{"url":"https://a.example/","sha256":"*","at":""}]}'],
  ['has another format', '{"version":2,"downloads":[]}'],
])('18.2 a file of held downloads that %s accepts no first download, and stays as it is', TIMEOUT, async (_, text) => {
  const { url } = await serveFiles({ '/sample-acp': FIRST })
  const { adapters, host, publish } = await registryWorld()
  publish(binaryEntry(`${url}/sample-acp`))
  const file = join(host.home, 'held-downloads.json')
  writeFileSync(file, text)
  const { error } = await follow(adapters.addAgent('sample', TRUST))
  expect(error).toMatchObject({ code: 'storage_failed', message: expect.stringContaining(file) })
  await expect(holdDownload({ url, sha256: sha256Of(FIRST), verified: false }, host)).rejects.toMatchObject({
    code: 'storage_failed',
  })
  expect(textAt(file)).toBe(text)
  expect(leftIn(host)).toEqual([])
})

test('18.2 no more than a thousand are held: then a first download is refused, and one with a checksum is not', async () => {
  const host = hostOf()
  const downloads = Array.from({ length: 1_000 }, (_, index) => ({
    url: `https://a.example/${index}`,
    sha256: 'a'.repeat(64),
    at: '2026-01-01T00:00:00.000Z',
  }))
  writeFileSync(join(host.home, 'held-downloads.json'), JSON.stringify({ version: 1, downloads }))
  const more = { url: 'https://a.example/more', sha256: 'b'.repeat(64) }
  await expect(holdDownload({ ...more, verified: false }, host)).rejects.toMatchObject({ code: 'install_failed' })
  await holdDownload({ ...more, verified: true }, host)
  expect(await heldSha256(more.url, host)).toBeUndefined()
  await holdDownload({ ...more, url: 'https://a.example/7', verified: true }, host)
  expect(await heldSha256('https://a.example/7', host)).toBe(more.sha256)
})

test('18.2 a home that cannot be written accepts no first download', async () => {
  const host = hostOf()
  mkdirSync(join(host.home, 'held-downloads.json'))
  const download = { url: 'https://a.example/a', sha256: 'c'.repeat(64), verified: false }
  await expect(holdDownload(download, host)).rejects.toMatchObject({ code: 'storage_failed' })
})
