import { readCatalogue } from '@agentproto/adapters'
import { expect, test } from 'vitest'

test('the example of the README does what it says', async () => {
  const adapters = await readCatalogue()
  expect(adapters.get('demo')?.manifest.protocol).toBe('acp')
})
