import { createRedactor, createSecrets } from '@agentproto/secrets'
import { expect, test } from 'vitest'
import { tempHome } from './temp-home.ts'

test('the example of the README does what it says', async () => {
  const home = tempHome()

  const redactor = createRedactor()
  const secrets = createSecrets({ home, env: process.env, keyring: 'none', redactor })
  await secrets.set('acme/api-key', { kind: 'opaque', value: 'sk-live-4711' })
  const found = await secrets.resolve({ slug: 'acme/api-key', variables: ['ACME_API_KEY'] })
  const [listed] = await secrets.list()
  expect(found?.text).toBe('sk-live-4711')
  expect([listed?.set, JSON.stringify(listed).includes('4711')]).toEqual([true, false])
  const line = redactor.redact('Authorization: Bearer sk-live-4711')
  expect(line).toBe('Authorization: Bearer [redacted]')
})
