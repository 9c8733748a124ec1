import type { LookupAddress } from 'node:dns'
import { expect, test } from 'vitest'
import { guardEndpoint } from '../src/endpoint/guard-endpoint.ts'

const PUBLIC = '93.184.215.14'

const guard = (url: string, privateEndpoints: readonly string[] = [], addresses: readonly string[] = [PUBLIC]) =>
  guardEndpoint(url, { privateEndpoints: async () => privateEndpoints, resolve: async () => addresses })

const refusal = (url: string, ...more: readonly (readonly string[])[]): Promise<string> =>
  guard(url, ...more).then(
    () => 'allowed',
    (thrown: { code: string; message: string }) => `${thrown.code}: ${thrown.message}`,
  )

const hintOf = (url: string, addresses: readonly string[]): Promise<string> =>
  guard(url, [], addresses).then(
    () => 'allowed',
    (thrown: { parts: { hint: string } }) => thrown.parts.hint,
  )

/** What a socket gets when it asks for a name. */
const asked = (
  { lookup }: Awaited<ReturnType<typeof guardEndpoint>>,
  name: string,
  options: { all?: boolean; family?: number },
): Promise<string | readonly LookupAddress[]> =>
  new Promise((resolve, reject) => {
    lookup(name, options, (error, found) => (error === null ? resolve(found) : reject(error)))
  })

test('an encrypted endpoint at a public address needs no consent', async () => {
  expect(await guard('wss://build.example/acp')).toMatchObject({ addresses: [PUBLIC] })
  expect(await guard(`wss://${PUBLIC}/`)).toMatchObject({ addresses: [PUBLIC] })
})

test.each([
  ['ws://build.example/', [PUBLIC]],
  ['ws://127.0.0.1:7646/', []],
  ['wss://127.0.0.1/', []],
  ['wss://localhost/', ['127.0.0.1']],
  ['wss://build.example/', ['10.0.0.1']],
  ['wss://build.example/', [PUBLIC, '10.0.0.1']],
  ['wss://build.example/', ['::ffff:127.0.0.1']],
  ['wss://build.example/', ['100.64.0.1']],
  ['wss://[::1]/', []],
  ['wss://[::ffff:127.0.0.1]/', []],
  ['wss://2130706433/', []],
  ['wss://0x7f000001/', []],
  ['wss://0177.0.0.1/', []],
  ['wss://127.1/', []],
  ['wss://%31%32%37.1/', []],
])('%s with the addresses %s is refused without the consent of the owner', async (url, addresses) => {
  const thrown = await refusal(url, [], addresses)
  expect(thrown).toMatch(/^endpoint_not_allowed: /)
  expect(await hintOf(url, addresses)).toContain('--allow-private')
  // The consent is for that host and port alone.
  const { host, port, protocol } = new URL(url)
  const other = port === '' ? (protocol === 'wss:' ? 444 : 81) : Number(port) + 1
  expect(await refusal(url, [`${host.replace(/:\d+$/, '')}:${other}`, 'other.example:443'], addresses)).toBe(thrown)
})

test.each([
  ['ws://127.0.0.1:7646/', '127.0.0.1:7646', []],
  ['ws://127.0.0.1/', '127.0.0.1:80', []],
  ['wss://127.0.0.1/', '127.0.0.1:443', []],
  ['wss://2130706433:9/', '127.0.0.1:9', []],
  ['wss://127.0.0.1:9/', '127.1:9', []],
  ['ws://[::1]:7646/', '[::1]:7646', []],
  ['ws://LocalHost:7646/', 'localhost:7646', ['127.0.0.1', '::1']],
  ['ws://localhost.:7646/', 'localhost:7646', ['127.0.0.1']],
  ['wss://build.lan/', 'build.lan:443', ['192.168.1.5']],
])('%s is allowed by the consent to %s', async (url, consent, addresses) => {
  expect(await refusal(url, [consent], addresses)).toBe('allowed')
})

test('what is not encrypted never leaves a private network, whatever the owner has consented to', async () => {
  expect(await refusal('ws://build.example/', ['build.example:80'], ['10.0.0.1', PUBLIC])).toMatch(
    /^endpoint_not_allowed: .*without encryption/,
  )
})

test.each([
  ['224.0.0.1'],
  ['255.255.255.255'],
  ['192.0.2.1'],
  ['not an address'],
  ['169.254.169.254'],
  ['100.100.100.200'],
  ['::ffff:168.63.129.16'],
  ['fd00:ec2::254'],
  ['fe80::1'],
  ['0.0.0.0'],
])('%s is reached with no consent', async (address) => {
  expect(await refusal('wss://build.example/', ['build.example:443'], [address])).toMatch(/^endpoint_not_allowed/)
})

test.each(['', 'build.example', 'user@127.0.0.1:443', '127.0.0.1:443/path', '*:443', '127.0.0.1'])(
  'a consent to %o allows nothing',
  async (consent) => {
    expect(await refusal('ws://127.0.0.1:7646/', [consent])).toMatch(/^endpoint_not_allowed/)
  },
)

test('the socket gets the addresses that were checked, and not what the name leads to then', async () => {
  const answers = [[PUBLIC, '2606:2800:21f:cb07::1'], ['127.0.0.1']]
  const checked = await guardEndpoint('wss://rebind.example/', { resolve: async () => answers.shift() ?? [] })
  expect(await asked(checked, 'rebind.example', {})).toBe(PUBLIC)
  expect(await asked(checked, 'rebind.example', { all: true })).toEqual([
    { address: PUBLIC, family: 4 },
    { address: '2606:2800:21f:cb07::1', family: 6 },
  ])
  expect(await asked(checked, 'rebind.example', { family: 6 })).toBe('2606:2800:21f:cb07::1')
  expect(answers).toEqual([['127.0.0.1']])
  // The next connect looks again.
  await expect(guardEndpoint('wss://rebind.example/', { resolve: async () => answers.shift() ?? [] })).rejects.toThrow(
    '127.0.0.1 is on this machine',
  )
})

test('the socket gets no address for another name, as after a redirect', async () => {
  await expect(asked(await guard('wss://build.example/'), 'other.example', { all: true })).rejects.toThrow('checked')
})

test('a name that is not found is no refusal: another attempt may find it', async () => {
  const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
  const resolve = () => Promise.reject(notFound)
  await expect(guardEndpoint('wss://build.example/', { resolve })).rejects.toBe(notFound)
  await expect(guard('wss://build.example/', [], [])).rejects.toThrow('has no address')
})

test('a consent counts as it is when a connection is made', async () => {
  const consents: string[] = []
  const rules = { privateEndpoints: async () => consents }
  await expect(guardEndpoint('ws://127.0.0.1:7/', rules)).rejects.toMatchObject({ code: 'endpoint_not_allowed' })
  consents.push('127.0.0.1:7')
  expect(await guardEndpoint('ws://127.0.0.1:7/', rules)).toMatchObject({ addresses: ['127.0.0.1'] })
  consents.pop()
  await expect(guardEndpoint('ws://127.0.0.1:7/', rules)).rejects.toMatchObject({ code: 'endpoint_not_allowed' })
})
