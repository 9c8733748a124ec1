import type { Principal } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { fakeGateway, OWNER } from './fake-gateway.ts'

test('a listener for the owner and the agents of the machine rejects named tokens, and reports them', async () => {
  const by: Principal = { type: 'token', name: 'ci', scope: 'admin' }
  const refused: unknown[] = []
  const { app } = fakeGateway({
    authenticate: (token) => (token === 'named' ? by : OWNER),
    onRefused: (refusal) => refused.push(refusal),
  })
  const status = async (token: string, env: object): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` }
    return (await app.fetch(new Request('http://127.0.0.1/sessions?q=x', { headers }), env)).status
  }
  const env = { rejectNamedTokens: true }
  expect([await status('owner', env), await status('named', {}), await status('named', env)]).toEqual([200, 200, 403])
  expect(refused).toEqual([{ code: 'forbidden', by, method: 'GET', path: '/sessions' }])
})
