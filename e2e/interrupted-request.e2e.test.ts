import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@agentproto/client'
import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

test('a request that is pending when the gateway is killed is listed by the next gateway, and can be answered in advance', async () => {
  const home = temporaryFolder('interrupted-request')
  const env = { AGENTPROTO_DEMO_HOME: join(home, 'demo') }
  const first = await startDaemon({ home, keeper: false, env })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'ask notes.txt hello' })
  await expect.poll(() => stateOf(first.client, id), { timeout: 20_000 }).toBe('pending')
  await first.crash()

  const { client } = await startDaemon({ home, env })
  const [request] = await client.sessions.requests(id)
  expect(request).toMatchObject({ state: 'interrupted', answeredBy: { type: 'gateway-end' } })
  const requestId = request?.requestId ?? ''
  await expect(client.sessions.answer(id, requestId, { optionId: 'allow' })).rejects.toMatchObject({
    code: 'request_interrupted',
  })
  await client.sessions.answer(id, requestId, { optionId: 'allow', remember: 'once' })
  const { text } = await client.sessions.promptAndWait(id, { prompt: 'ask notes.txt hello' })
  expect(text).toBe('I was allowed to write notes.txt.')
  expect(readFileSync(join(home, 'notes.txt'), 'utf8')).toBe('hello\n')
  // An answer for once is used once.
  await client.sessions.prompt(id, { prompt: 'ask notes.txt again' })
  await expect.poll(() => stateOf(client, id), { timeout: 20_000 }).toBe('pending')
  await client.sessions.kill(id)
})

const stateOf = async (client: Client, id: string): Promise<string | undefined> =>
  (await client.sessions.requests(id)).at(-1)?.state
