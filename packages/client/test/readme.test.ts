import { expect, test } from 'vitest'
import { createClient } from '@agentproto/client'
import { event as message, fakeGateway, json, sse } from './fake-gateway.js'

const token = 't'

test('the example of the README', async () => {
  const gateway = await fakeGateway((request, response) => {
    const stream = request.headers.accept === 'text/event-stream'
    if (stream) {
      sse(response).write(
        message(1, { type: 'text-delta', text: 'echo: hello' }) + message(2, { type: 'turn-end', reason: 'end_turn' }),
      )
    } else json(response, { ok: true, id: 's1' })
  })

  const { sessions } = createClient({ url: gateway.url, token })
  const session = await sessions.start({ adapter: 'demo', cwd: process.cwd() })
  const { text } = await sessions.promptAndWait(session.id, { prompt: 'hello' })
  for await (const event of sessions.events(session.id)) {
    if (event.type === 'turn-end') break
  }
  await sessions.kill(session.id)

  expect(text).toBe('echo: hello')
  expect(gateway.seen.at(-1)).toMatchObject({ method: 'POST', path: '/sessions/s1/kill' })
})
