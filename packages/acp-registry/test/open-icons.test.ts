import { readdirSync, readFileSync, utimesSync, writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openIcons } from '@agentproto/acp-registry'
import type { Clock } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { type Answer, registryServer, temporaryFolder } from './registry-server.js'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"></path></svg>'
const HOUR_MS = 60 * 60 * 1000

const drawing =
  (text: string | Uint8Array = SVG): Answer =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(text)

/** A clock that the test sets; its timers never fire. */
const clockAt = (start: number): Clock & { time: number } => ({
  time: start,
  now() {
    return this.time
  },
  after: () => ({ cancel: () => undefined }),
})

async function icons(answer: Answer) {
  const server = await registryServer(answer)
  const home = await temporaryFolder()
  const clock = clockAt(1_000_000)
  return {
    server,
    home,
    clock,
    icons: openIcons({ home, clock }),
    address: server.url.replace('registry.json', 'a.svg'),
  }
}

test('an icon is loaded, cleaned and kept for a week', async () => {
  const {
    icons: own,
    server,
    address,
    clock,
    home,
  } = await icons(drawing(SVG.replace('<path', '<script/><path onload="x"')))
  expect(await own.read(address)).toBe(SVG)
  clock.time += 7 * 24 * HOUR_MS - 1
  expect(await openIcons({ home, clock }).read(address)).toBe(SVG)
  expect(server.requests).toHaveLength(1)
  clock.time += 2
  await own.read(address)
  expect(server.requests).toHaveLength(2)
  const [file = ''] = readdirSync(join(home, 'icons'))
  expect(readFileSync(join(home, 'icons', file), 'utf8')).not.toContain('script')
})

test('what is asked for at the same time is loaded once', async () => {
  const { icons: own, server, address } = await icons(drawing())
  expect(await Promise.all([own.read(address), own.read(address), own.read(address)])).toEqual([SVG, SVG, SVG])
  expect(server.requests).toHaveLength(1)
})

test('a server that gives none is not asked again for an hour, and the old icon stays', async () => {
  const { icons: own, server, address, clock } = await icons(drawing())
  await own.read(address)
  clock.time += 8 * 24 * HOUR_MS
  server.answer = (response) => void response.writeHead(500).end()
  expect(await own.read(address)).toBe(SVG)
  expect(await own.read(address)).toBe(SVG)
  expect(server.requests).toHaveLength(2)
  clock.time += HOUR_MS
  server.answer = drawing(SVG.replace('M0 0', 'M1 1'))
  expect(await own.read(address)).toContain('M1 1')
})

const REFUSED: Readonly<Record<string, readonly [Answer, RegExp]>> = {
  'a server that has none': [(response) => void response.writeHead(404).end(), /404/],
  'what is no drawing': [drawing('<html/>'), /no SVG/],
  'an answer of 50 MB': [drawing(Buffer.alloc(50 << 20, ' ')), /256 KiB/],
  'an answer without an end, of unknown length': [
    (response) => {
      response.writeHead(200)
      const write = (): void => void (response.destroyed || response.write(' '.repeat(65_536), write))
      write()
    },
    /256 KiB/,
  ],
  'a redirect without TLS': [
    (response) => void response.writeHead(302, { location: 'http://example.com/a.svg' }).end(),
    /not protected/,
  ],
  'redirects without an end': [
    (response) => void response.writeHead(302, { location: '/a.svg' }).end(),
    /redirected more/,
  ],
  'a connection that breaks': [(response) => void response.destroy(), /./],
}
for (const [name, [answer, reason]] of Object.entries(REFUSED))
  test(`no icon: ${name}`, async () => {
    const { icons: own, server, address } = await icons(answer)
    const refusal = { code: 'icon_not_found', parts: { given: expect.stringMatching(reason) as unknown } }
    await expect(own.read(address)).rejects.toMatchObject(refusal)
    const { length } = server.requests
    await expect(own.read(address)).rejects.toMatchObject(refusal)
    expect(server.requests).toHaveLength(length)
  })

test('an address that is not protected is never asked', async () => {
  const { icons: own } = await icons(drawing())
  for (const address of [
    'http://example.com/a.svg',
    'file:///etc/passwd',
    'data:image/svg+xml,x',
    'a',
    'https://u:p@h/',
  ])
    await expect(own.read(address)).rejects.toMatchObject({ code: 'icon_not_found' })
})

test('at most 300 icons are kept, and the oldest go', async () => {
  const { icons: own, home, address } = await icons(drawing())
  const folder = join(home, 'icons')
  mkdirSync(folder)
  for (let i = 0; i < 305; i++) {
    const file = join(folder, `${i}.json`)
    writeFileSync(file, '{}')
    utimesSync(file, i + 1, i + 1)
  }
  await own.read(address)
  const names = readdirSync(folder).filter((file) => file.endsWith('.json'))
  expect(names).toHaveLength(300)
  expect(names).not.toContain('5.json')
  expect(names).toContain('6.json')
})
