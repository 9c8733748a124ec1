import { expect, test } from 'vitest'
import { gatewayUrl, isSameGateway } from '../src/daemon/gateway-url.js'

const urlOf = (written: string): string | undefined => gatewayUrl({ AGENTPROTO_URL: written })

test.each([
  ['http://127.0.0.1:7646', 'http://127.0.0.1:7646'],
  ['http://127.0.0.1:7646/', 'http://127.0.0.1:7646'],
  ['localhost:7646', 'http://localhost:7646'],
  ['127.0.0.1:7646/', 'http://127.0.0.1:7646'],
  ['[::1]:7646', 'http://[::1]:7646'],
  [':7646', 'http://127.0.0.1:7646'],
  ['7646', 'http://127.0.0.1:7646'],
  [' localhost:7646 ', 'http://localhost:7646'],
  ['https://agents.example/team/a/', 'https://agents.example/team/a'],
  ['localhost:7646/team', 'http://localhost:7646/team'],
])('14.3.2 AGENTPROTO_URL=%s is %s', (written, url) => {
  expect(urlOf(written)).toBe(url)
})

test.each([
  ['agents.example:7646', 'https://agents.example:7646'],
  ['10.0.0.4:7646', 'https://10.0.0.4:7646'],
  ['127.evil.example:80', 'https://127.evil.example:80'],
  ['localhost.evil.example', 'https://localhost.evil.example'],
])('14.3.2 without a scheme, another machine is never called in plain HTTP: %s', (written, url) => {
  expect(urlOf(written)).toBe(url)
})

test('14.3.2 an empty AGENTPROTO_URL is none', () => {
  expect([urlOf(''), urlOf('  '), gatewayUrl({})]).toEqual([undefined, undefined, undefined])
})

test.each([
  'ftp://127.0.0.1',
  'http://',
  'http://me:secret@127.0.0.1:7646',
  'me:secret@127.0.0.1',
  'http://127.0.0.1:7646/?token=secret',
  'http://127.0.0.1:7646/#x',
  'http://127.0.0.1:99999',
  'a b',
])('14.3.2 AGENTPROTO_URL=%s is refused, and not repeated', (written) => {
  const refusal = expect.objectContaining({
    code: 'invalid_request',
    message: expect.not.stringContaining('secret') as string,
  }) as Error
  expect(() => urlOf(written)).toThrow(refusal)
})

test.each([
  ['http://localhost:7646', 'http://127.0.0.1:7646', true],
  ['http://127.0.0.1:7646', 'http://[::1]:7646', true],
  ['http://localhost:7646', 'http://127.0.0.1:7647', false],
  ['http://localhost:7646/team', 'http://127.0.0.1:7646', false],
  ['https://localhost:7646', 'http://127.0.0.1:7646', false],
  ['http://agents.example:7646', 'http://127.0.0.1:7646', false],
  ['https://agents.example', 'https://agents.example', true],
])('14.3.2 %s and %s are the same gateway: %s', (named, known, same) => {
  expect(isSameGateway(named, known)).toBe(same)
})
