import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { declaredSecrets } from '../src/launch/declared-secrets.ts'
import { prepare } from './guarded-launch.ts'

test('16 speed: the secrets of a sandbox profile are parsed once, and again when their file has changed', async () => {
  const { adapter: plain } = await prepare()
  const env = { ...plain.sandbox.env, secretsRef: './MORE.md' }
  const adapter = { ...plain, sandbox: { ...plain.sandbox, env } }
  const text = readFileSync(join(plain.directory, 'SECRETS.md'), 'utf8')
  const path = join(plain.directory, 'MORE.md')
  expect(await declaredSecrets(adapter)).toEqual([])
  writeFileSync(path, text)
  const [first] = await declaredSecrets(adapter)
  expect(first).toMatchObject({ slug: 'acme/token' })
  expect((await declaredSecrets(adapter))[0]).toBe(first)
  writeFileSync(path, text.replace('acme/token', 'acme/other'))
  expect(await declaredSecrets(adapter)).toMatchObject([{ slug: 'acme/other' }])
})
