import { expect, test } from 'vitest'
import { readEventStream } from './support/event-stream.js'
import { startGateway } from './support/gateway.js'

test('a client that missed 50,000 events gets each exactly once', async () => {
  const { client, url, token, cwd } = await startGateway()
  const { id } = await client.sessions.start({ adapter: 'demo', cwd })
  const events = `${url}/sessions/${id}/events`
  const ids: number[] = []
  const texts: string[] = []
  const take = ({ id: eventId, data }: { id?: string | undefined; data: string }): void => {
    ids.push(Number(eventId))
    const event = JSON.parse(data)
    if (event.type === 'text-delta') texts.push(event.text)
  }

  await client.sessions.prompt(id, { prompt: 'stream 100; flood 60000' })
  for await (const message of readEventStream(events, { token })) {
    if (message.id !== undefined) take(message)
    if (texts.length === 20) break
  }
  await client.sessions.waitTurn(id, 1)
  const { lastSeq } = await client.sessions.get(id)
  expect(lastSeq - ids.length).toBeGreaterThan(50_000)

  await client.sessions.kill(id)
  for await (const message of readEventStream(events, { token, lastEventId: String(ids.at(-1)) })) {
    if (message.id !== undefined) take(message)
  }
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, i) => i + 1))
  expect(ids.length).toBeGreaterThanOrEqual(lastSeq)
  const said = Array.from({ length: 100 }, (_, i) => `chunk ${i + 1}`)
  const flooded = Array.from({ length: 60_000 }, (_, i) => String(i + 1))
  expect(texts.join('').trimEnd().split('\n')).toEqual([...said, ...flooded])
})
