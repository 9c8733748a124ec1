import { expect, test } from 'vitest'
import { assertPrivate, parseRemoteUrl } from '../src/remote/remote-url.js'

test.each([
  ['https://build.example.com', 'https://build.example.com', undefined],
  ['wss://build.example.com', 'https://build.example.com', undefined],
  ['ws://127.0.0.1:7646/acp', 'http://127.0.0.1:7646', undefined],
  ['https://build.example.com/acp/', 'https://build.example.com', undefined],
  ['https://build.example.com:8443/acp/opencode', 'https://build.example.com:8443', 'opencode'],
  ['wss://build.example.com/team/a/acp/claude-code/', 'https://build.example.com/team/a', 'claude-code'],
  ['https://build.example.com/team', 'https://build.example.com/team', undefined],
  ['https://build.example.com/acp/acp', 'https://build.example.com/acp', undefined],
  ['https://build.example.com/acp/a/b', 'https://build.example.com/acp/a/b', undefined],
  ['build.example.com/acp/demo', 'https://build.example.com', 'demo'],
  ['localhost:7646', 'http://localhost:7646', undefined],
  ['[::1]:7646/acp', 'http://[::1]:7646', undefined],
  ['7646', 'http://127.0.0.1:7646', undefined],
  ['HTTPS://Build.Example.com/ACP', 'https://build.example.com/ACP', undefined],
])('the address %s is that of %s', (written, url, agent) => {
  expect(parseRemoteUrl(written)).toEqual({ url, agent })
})

test.each([
  '',
  'ftp://build.example.com',
  'https://',
  'https://me:secret@build.example.com',
  'https://secret@build.example.com',
  'https://build.example.com/acp?token=secret',
  'https://build.example.com/acp#secret',
  'https://build.example.com/acp/%2e%2e%2fsecret',
  'https://build.example.com/acp/a%20secret',
  'https://build.example.com:99999/secret',
  'secret token',
])('what is no address is refused, and not repeated: %s', (written) => {
  const refusal = expect.objectContaining({
    code: 'invalid_request',
    message: expect.not.stringContaining('secret') as string,
  }) as Error
  expect(() => parseRemoteUrl(written)).toThrow(refusal)
})

test.each([
  'http://build.example.com',
  'ws://10.0.0.4:7646',
  'http://127.evil.example',
  'http://localhost.evil.example',
])('plain HTTP to another machine needs consent: %s', (written) => {
  const remote = parseRemoteUrl(written)
  expect(() => assertPrivate(remote, false)).toThrow('--allow-insecure')
  expect(() => assertPrivate(remote, true)).not.toThrow()
})

test.each(['https://10.0.0.4', 'wss://build.example.com', 'http://localhost:1', 'ws://127.0.0.1:1', 'http://[::1]:1'])(
  'TLS, and this machine, need none: %s',
  (written) => expect(() => assertPrivate(parseRemoteUrl(written), false)).not.toThrow(),
)
