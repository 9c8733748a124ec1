import { expect, test } from 'vitest'
import { createClient } from '@agentproto/client'
import { event, fakeGateway, json, sse, type SeenRequest } from './fake-gateway.js'

const token = 't'

test('the example of the README', async () => {
  const gateway = await fakeGateway((request, response) => {
    const stream = request.headers.accept === 'text/event-stream'
    if (stream) {
      sse(response).write(
        event(1, { type: 'text-delta', text: 'echo: hello' }) + event(2, { type: 'turn-end', reason: 'end_turn' }),
      )
    } else json(response, answerTo(request))
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

function answerTo({ path }: SeenRequest): unknown {
  if (path.endsWith('/turns')) return { turns: [{ number: 1, firstSeq: 1 }] }
  return { ok: true, id: 's1', turn: 1 }
}
