import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type Principal, systemClock } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { HostNames } from '../../server/src/listen/host-names.ts'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// A gateway that other machines reach: the names under which it is called, and the address that its own agents get.

const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
const hasIpv6 = addresses.some(({ address }) => address === '::1')
/** What other machines would call; there may be none. */
const others = addresses.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address)

/** By hand, as `fetch` sends no Host of one's own. */
function statusOf(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/health`, { headers: { host }, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    })
    sent.on('error', reject).end()
  })
}

test.each(['0.0.0.0', ...(hasIpv6 ? ['::'] : [])])(
  'on all addresses (%s) it is called by the machine’s own names alone',
  async (host) => {
    const gateway = await testGateway({ home: await temporaryHome(), allowedHosts: ['agents.example'] })
    const { url } = await gateway.listen({ host, port: 0, allowRemote: true })
    const { port } = new URL(url)
    // 0.0.0.0 is no address to call: the reported one works.
    expect(url).toBe(`http://127.0.0.1:${port}`)
    expect((await fetch(`${url}/health`)).status).toBe(200)
    for (const address of others) expect((await fetch(`http://${address}:${port}/health`)).status).toBe(200)
    for (const name of [hostname(), `${hostname()}:${port}`, ...others, 'agents.example', 'localhost'])
      expect([name, await statusOf(url, name)]).toEqual([name, 200])
    for (const name of ['evil.example', '0.0.0.0', '198.51.100.7', `${hostname()}.evil.example`, '[::]'])
      expect([name, await statusOf(url, name)]).toEqual([name, 403])
  },
)

test('on loopback only, the machine’s other names are rejected', async () => {
  const gateway = await testGateway({ home: await temporaryHome() })
  const { url } = await gateway.listen({ port: 0 })
  for (const name of [...others, `not-${hostname()}.example`]) expect(await statusOf(url, name)).toBe(403)
})

test.each(hasIpv6 ? ['::1'] : [])('on %s it is called by its address in brackets', async (host) => {
  const gateway = await testGateway({ home: await temporaryHome() })
  const { url } = await gateway.listen({ host, port: 0 })
  expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await statusOf(url, '[::1]')).toBe(200)
})

test.each(['0.0.0.0', ...others.slice(0, 1)])('agents get an address that accepts them (%s)', async (host) => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { url } = await gateway.listen({ host, port: 0, allowRemote: true })
  const owner: Principal = { type: 'owner', name: 'owner' }
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home, permissionMode: 'approve-all' }, owner)
  const { turn } = await gateway.sessions.prompt(id, { prompt: 'run echo $AGENTPROTO_URL > address' }, owner)
  await gateway.sessions.waitTurn(id, turn)
  const address = (await readFile(join(home, 'address'), 'utf8')).trim()
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect((await fetch(`${address}/health`)).status).toBe(200)
  expect(address === url).toBe(host === '0.0.0.0')
})

test('a stranger’s name has the addresses looked up once a second, not for each call', () => {
  let now = 0
  const names = new HostNames({ ...systemClock, now: () => now })
  expect(names.has(hostname().toLowerCase())).toBe(false)
  names.add('0.0.0.0')
  expect(names.has(hostname().toLowerCase())).toBe(true)
  expect(names.has('evil.example')).toBe(false)
  now = 5_000
  expect([names.has('evil.example'), names.has(hostname().toLowerCase()), names.has('[::1]') || !hasIpv6]).toEqual([
    false,
    true,
    true,
  ])
})
