import { expect, test } from 'vitest'
import type { Refusal } from '../src/audit/refusals.js'
import { localDoor } from '../src/listen/local-door.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

test('the local door lets in the owner, turns named tokens away, and tells of them', async () => {
  const gateway = await testGateway({ home: await temporaryHome(), store: 'memory' })
  const by = { type: 'token', name: 'ci', scope: 'admin' } as const
  const refused: Refusal[] = []
  const answer = localDoor(gateway.app, {
    authenticate: (token) => (token === 'named' ? by : { type: 'owner', name: 'owner' }),
    onRefused: (refusal) => refused.push(refusal),
  })
  const call = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` }
    return (await answer(new Request('http://127.0.0.1/sessions?q=x', { headers }), {})).status
  }
  expect(await call(gateway.token)).toBe(200)
  expect(await call('named')).toBe(403)
  expect(refused).toEqual([{ code: 'forbidden', by, method: 'GET', path: '/sessions', from: 'loopback' }])
})
