import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRedactor, createSecrets, type SecretsOptions } from '@agentproto/secrets'
import { expect, test } from 'vitest'
import { fakeSecretTool, tempHome } from './temp-home.ts'

const VALUE = 'sk-live-4711-abcdef'
const opaque = { kind: 'opaque', value: VALUE } as const

const secretsOf = (home: string, more: Partial<SecretsOptions> = {}) =>
  createSecrets({ home, env: {}, keyring: 'none', ...more })

test('a secret is found in the environment first, then in the store', async () => {
  const home = tempHome()
  const declared = { slug: 'acme/api-key', variables: ['ACME_KEY'] }
  expect(await secretsOf(home).resolve(declared)).toBeUndefined()
  await secretsOf(home).set('acme/api-key', opaque)
  expect(await secretsOf(home).resolve(declared)).toEqual({ slug: 'acme/api-key', text: VALUE, place: 'file' })
  const env = { ACME_KEY: 'from-the-host' }
  expect(await secretsOf(home, { env }).resolve(declared)).toMatchObject({
    text: 'from-the-host',
    place: 'environment',
  })
})

test('the file is readable only by its owner, and its mode is restored', async () => {
  const home = tempHome()
  const warnings: string[] = []
  const secrets = secretsOf(home, { onWarning: (warning) => warnings.push(warning) })
  await secrets.set('key-1', opaque)
  const file = join(home, 'secrets.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(file, readFileSync(file), { mode: 0o644 })
  const { chmodSync } = await import('node:fs')
  chmodSync(file, 0o644)
  await secrets.resolve({ slug: 'key-1' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(warnings.join()).toContain('other users')
})

test('a listing has the place and the time, never the value', async () => {
  const home = tempHome()
  const secrets = secretsOf(home, { env: { TOKEN_B: 'given-by-the-host' } })
  await secrets.set('key-a', opaque)
  const list = await secrets.list([
    { slug: 'key-b', variables: ['TOKEN_B'] },
    { slug: 'constructor', variables: [] },
  ])
  expect(list).toEqual([
    { slug: 'constructor', kind: 'opaque', set: false, variables: [] },
    { slug: 'key-a', kind: 'opaque', set: true, place: 'file', variables: [], updatedAt: expect.any(String) },
    { slug: 'key-b', kind: 'opaque', set: true, place: 'environment', variables: ['TOKEN_B'] },
  ])
  expect(JSON.stringify(list)).not.toContain(VALUE)
})

test('an oauth secret keeps its three parts and resolves to the access token', async () => {
  const home = tempHome()
  const redactor = createRedactor()
  const expiresAt = '2026-12-01T00:00:00.000Z'
  const value = { kind: 'oauth', accessToken: 'access-4711', refreshToken: 'refresh-4711', expiresAt } as const
  expect(await secretsOf(home, { redactor }).set('login', value)).toMatchObject({ kind: 'oauth', expiresAt })
  expect(await secretsOf(home).resolve({ slug: 'login' })).toEqual({
    slug: 'login',
    text: 'access-4711',
    place: 'file',
    expiresAt,
  })
  expect(redactor.redact('access-4711 and refresh-4711')).toBe('[redacted] and [redacted]')
})

test('a removed secret is gone; an unknown one is an error that names the known ones', async () => {
  const secrets = secretsOf(tempHome())
  await secrets.set('key-a', opaque)
  await expect(secrets.remove('key-b')).rejects.toMatchObject({
    code: 'secret_not_found',
    parts: { expected: 'one of key-a' },
  })
  await secrets.remove('key-a')
  expect(await secrets.list()).toEqual([])
})

test.each([
  ['Not-A-Slug', opaque],
  ['x', opaque],
  ['a/b/c', opaque],
  ['key', { kind: 'opaque', value: '' }],
  ['key', { kind: 'opaque', value: `a\0${VALUE}` }],
  ['key', { kind: 'oauth', accessToken: VALUE, expiresAt: 'soon' }],
] as const)('%s is refused without a word about its value', async (slug, value) => {
  const home = tempHome()
  const refused = await secretsOf(home)
    .set(slug, value)
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'invalid_request' })
  expect(String(refused)).not.toContain(VALUE)
  expect(existsSync(join(home, 'secrets.json'))).toBe(false)
})

test('F45 two writers at once lose nothing', async () => {
  const home = tempHome()
  await Promise.all(['aa', 'bb', 'cc', 'dd', 'ee'].map((slug) => secretsOf(home).set(slug, opaque)))
  expect((await secretsOf(home).list()).map(({ slug }) => slug)).toEqual(['aa', 'bb', 'cc', 'dd', 'ee'])
})

test('F45 an unreadable file is moved aside before it is written', async () => {
  const home = tempHome()
  const warnings: string[] = []
  writeFileSync(join(home, 'secrets.json'), '{"version":1,"secrets":')
  const secrets = secretsOf(home, { onWarning: (warning) => warnings.push(warning) })
  expect(await secrets.list()).toEqual([])
  await secrets.set('key-a', opaque)
  expect(await secrets.list()).toHaveLength(1)
  const aside = /moved to (.*)\.$/.exec(warnings.at(-1) ?? '')?.[1] ?? ''
  expect(readFileSync(aside, 'utf8')).toBe('{"version":1,"secrets":')
})

test('with a keyring the value is stored only there, and in no argument', async () => {
  const home = tempHome()
  const folder = tempHome()
  const env = fakeSecretTool(folder)
  const secrets = createSecrets({ home, env })
  expect(await secrets.set('key-a', opaque)).toMatchObject({ place: 'keyring' })
  expect(await createSecrets({ home, env }).resolve({ slug: 'key-a' })).toMatchObject({ text: VALUE, place: 'keyring' })
  expect(readFileSync(join(home, 'secrets.json'), 'utf8')).not.toContain(VALUE)
  expect(await createSecrets({ home: tempHome(), env }).resolve({ slug: 'key-a' })).toBeUndefined()
  await secrets.remove('key-a')
  expect(readFileSync(join(folder, 'entries.json'), 'utf8')).toBe('{}')
  const calls = readFileSync(join(folder, 'calls'), 'utf8')
  expect(calls).toContain(`store --label=agentproto: key-a service agentproto home ${home} slug key-a`)
  for (const form of [VALUE, Buffer.from(VALUE).toString('base64').slice(0, 12)]) expect(calls).not.toContain(form)
})

test('a keyring that fails is reported: the file is used by default, an error where the keyring was requested', async () => {
  const home = tempHome()
  const folder = tempHome()
  const warnings: string[] = []
  const env = fakeSecretTool(folder)
  writeFileSync(join(folder, 'locked'), '')
  const secrets = createSecrets({ home, env, onWarning: (warning) => warnings.push(warning) })
  expect(await secrets.set('key-a', opaque)).toMatchObject({ place: 'file' })
  expect(warnings.join()).toContain('keyring rejected')
  await expect(secrets.set('key-a', opaque, { place: 'keyring' })).rejects.toMatchObject({ code: 'storage_failed' })
})

test('12.C3 a part of a value is resolved by its name, and redacted', async () => {
  const known: string[] = []
  const secrets = secretsOf(tempHome(), { redactor: { add: (value) => void known.push(value) } })
  await secrets.set('login', { kind: 'oauth', accessToken: 'access-4711', refreshToken: 'refresh-4711' })
  await secrets.set('pair', { kind: 'keypair', value: '{"private":"private-4711","public":"public-4711"}' })
  await secrets.set('pem', { kind: 'keypair', value: '-----BEGIN KEY-----' })
  await secrets.set('data', { kind: 'json', value: '{"a":{"b":"deep-4711"},"toString":"own-4711"}' })
  await secrets.set('plain', opaque)
  const part = async (slug: string, field?: string) =>
    (await secrets.resolve({ slug, ...(field === undefined ? {} : { field }) }))?.text
  expect(await part('login')).toBe('access-4711')
  expect(await part('login', 'refreshToken')).toBe('refresh-4711')
  expect(await part('login', 'expiresAt')).toBeUndefined()
  expect(await part('login', 'kind')).toBeUndefined()
  expect(await part('pair', 'private')).toBe('private-4711')
  expect(await part('pair', 'public')).toBe('public-4711')
  expect([await part('pem', 'private'), await part('pem', 'public')]).toEqual(['-----BEGIN KEY-----', undefined])
  expect(await part('data', 'a')).toBe('{"b":"deep-4711"}')
  expect([await part('data', 'toString'), await part('data', 'constructor')]).toEqual(['own-4711', undefined])
  expect([await part('plain', 'value'), await part('plain', 'accessToken')]).toEqual([VALUE, undefined])
  expect(known).toEqual(expect.arrayContaining(['private-4711', 'refresh-4711', '{"b":"deep-4711"}']))
})

test('16.4 many secrets that are wanted at once are read at most twice, and what was stored before a call is seen by it', async () => {
  const home = tempHome()
  const warnings: string[] = []
  writeFileSync(join(home, 'secrets.json'), 'no JSON')
  const broken = secretsOf(home, { onWarning: (warning) => warnings.push(warning) })
  await Promise.all(Array.from({ length: 50 }, (_, at) => broken.resolve({ slug: `key-${at}` })))
  expect([1, 2]).toContain(warnings.length)
  const other = tempHome()
  const secrets = secretsOf(other)
  await secrets.set('key', opaque)
  const text = async (): Promise<string | undefined> => (await secrets.resolve({ slug: 'key' }))?.text
  const before = Array.from({ length: 20 }, text)
  const file = join(other, 'secrets.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace(VALUE, 'sk-live-new'))
  const after = Array.from({ length: 20 }, text)
  expect(new Set(await Promise.all(after))).toEqual(new Set(['sk-live-new']))
  await Promise.all(before)
})
