import { openTokens } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

test('tokens are made without a gateway, hold in the next one, and are that one’s while it runs', async () => {
  const home = await temporaryHome()
  const { token } = await openTokens({ home }).create({ name: 'ci', scope: 'read' })
  const gateway = await testGateway({ home })
  const status = async (bearer: string, path: string): Promise<number> =>
    (await gateway.app.request(path, { headers: { authorization: `Bearer ${bearer}`, host: 'localhost' } })).status
  expect([await status(token, '/sessions'), await status(token, '/tokens'), await status('x', '/sessions')]).toEqual([
    200, 403, 401,
  ])
  expect(await status(gateway.token, '/tokens')).toBe(200)
  await expect(openTokens({ home }).revoke('ci')).rejects.toMatchObject({ code: 'daemon_running' })
  await gateway.tokens.revoke('ci')
  expect(await status(token, '/sessions')).toBe(401)
})
