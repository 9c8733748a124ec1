import { createGateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { temporaryHome } from './fixtures/temporary-home.js'

test('the example of the README', async () => {
  const home = await temporaryHome()
  const gateway = await createGateway({ home, env: { ...process.env, AGENTPROTO_DEMO_HOME: home } })
  const { url, token } = await gateway.listen({ port: 0 })
  const by = { type: 'owner', name: 'me' } as const
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home }, by)
  const { turn } = await gateway.sessions.prompt(id, { prompt: 'hello' }, by)
  const { text } = await gateway.sessions.waitTurn(id, turn)
  await gateway.close()
  expect([url.startsWith('http://127.0.0.1:'), token.length > 20, text]).toEqual([true, true, 'echo: hello'])
})
