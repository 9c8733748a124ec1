import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createGatewayTokens, createRedactor, createSecrets, type SecretsOptions } from '@agentproto/secrets'
import { expect, test } from 'vitest'
import { fakeSecretTool, tempHome } from './temp-home.ts'

const TOKEN = 'agp_0123456789abcdef'
const BUILD = 'https://build.example.com'

const tokensOf = (home: string, more: Partial<SecretsOptions> = {}) =>
  createGatewayTokens({ home, env: {}, keyring: 'none', ...more })

test('a token is stored for one exact address, listed without its value, and removed once', async () => {
  const home = tempHome()
  const tokens = tokensOf(home)
  expect(await tokens.set(BUILD, TOKEN)).toEqual({ url: BUILD, place: 'file', updatedAt: expect.any(String) })
  for (const other of ['http://build.example.com', `${BUILD}:8443`, `${BUILD}/team`, 'https://build.example'])
    expect(await tokens.get(other)).toBeUndefined()
  expect(await tokensOf(home).get(BUILD)).toBe(TOKEN)
  expect(JSON.stringify(await tokens.list())).not.toContain(TOKEN)
  expect([await tokens.remove(BUILD), await tokens.remove(BUILD), await tokens.get(BUILD)]).toEqual([
    true,
    false,
    undefined,
  ])
})

test('only its owner can read the file, and no agent can declare what is in it', async () => {
  const home = tempHome()
  await tokensOf(home).set(BUILD, TOKEN)
  expect(statSync(join(home, 'gateway-tokens.json')).mode & 0o777).toBe(0o600)
  const secrets = createSecrets({ home, env: {}, keyring: 'none' })
  expect([await secrets.list(), await secrets.resolve({ slug: BUILD })]).toEqual([[], undefined])
})

test('in a keyring, the value is in no argument and in no file', async () => {
  const home = tempHome()
  const env = fakeSecretTool(home)
  const tokens = createGatewayTokens({ home, env })
  expect(await tokens.set(BUILD, TOKEN)).toMatchObject({ place: 'keyring' })
  expect(await createGatewayTokens({ home, env }).get(BUILD)).toBe(TOKEN)
  for (const file of ['calls', 'gateway-tokens.json', 'entries.json'])
    expect(readFileSync(join(home, file), 'utf8')).not.toContain(TOKEN)
  expect(await createSecrets({ home, env }).resolve({ slug: `gateway:${BUILD}` })).toBeUndefined()
  await tokens.remove(BUILD)
  expect(readFileSync(join(home, 'entries.json'), 'utf8')).toBe('{}')
})

test('what is resolved is redacted', async () => {
  const home = tempHome()
  const redactor = createRedactor()
  await tokensOf(home).set(BUILD, TOKEN)
  await tokensOf(home, { redactor }).get(BUILD)
  expect(redactor.redact(`sent ${TOKEN}`)).toBe('sent [redacted]')
})

test.each(['short', 'two words', 'two\nlines-of-it', 'ümläute-are-none', 'x'.repeat(5_000)])(
  'what no header can carry is refused, and not repeated: %j',
  async (token) => {
    const home = tempHome()
    const setting = tokensOf(home).set(BUILD, token)
    const message = expect.not.stringContaining(token) as string
    await expect(setting).rejects.toMatchObject({ code: 'invalid_request', message })
    expect(existsSync(join(home, 'gateway-tokens.json'))).toBe(false)
  },
)

test.each([
  'build.example.com',
  'ftp://x',
  'https://a b',
  'https://me:secret@x',
  'https://x?token=1',
  `https://${'x'.repeat(1_100)}`,
])('only an address gets a token: %s', async (url) => {
  await expect(tokensOf(tempHome()).set(url, TOKEN)).rejects.toMatchObject({ code: 'invalid_request' })
})
