import { expect, test } from 'vitest'
import { small } from './small-agent.ts'

test('the example of the README', async () => {
  let written = ''
  const demo = small()
  // oxlint-disable-next-line typescript/await-thenable -- the linter's own library has no Symbol.asyncDispose
  await using session = await demo.start({
    cwd: process.cwd(),
    onRequest: (request) => (request.kind === 'permission' ? { outcome: 'decline' } : { outcome: 'cancelled' }),
  })
  for await (const event of session.send('stream')) {
    if (event.type === 'text-delta') written += event.text
  }
  expect(written).toMatch(/^0 1 2 /)
})
