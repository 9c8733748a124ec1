import { expect, test } from 'vitest'
import { startGateway } from './support/gateway.js'

test('F16 of 200 concurrent prompts exactly one is accepted, and its turn ends once', async () => {
  const { client, url, token, cwd } = await startGateway()
  const { id } = await client.sessions.start({ adapter: 'demo', cwd })
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const response = await fetch(`${url}/sessions/${id}/prompt`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        // The turn lasts until it is interrupted: every refusal is because of this turn.
        body: JSON.stringify({ prompt: `hang ${i}` }),
      })
      const body: unknown = await response.json()
      return { status: response.status, body }
    }),
  )
  const accepted = answers.filter(({ status }) => status === 202)
  expect(accepted).toEqual([{ status: 202, body: { ok: true, id, turn: 1 } }])
  const refused = { status: 409, body: expect.objectContaining({ code: 'turn_in_progress' }) }
  expect(answers.filter(({ status }) => status !== 202)).toEqual(Array.from({ length: 199 }, () => refused))

  expect(await client.sessions.interrupt(id)).toMatchObject({ wasBusy: true })
  expect(await client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'cancelled' })
  const { events } = await client.sessions.eventsPage(id, 0, 1_000)
  expect(events.filter(({ type }) => type === 'user-prompt')).toHaveLength(1)
  expect(events.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
  expect(await client.sessions.promptAndWait(id, { prompt: 'hello' })).toMatchObject({ number: 2, text: 'echo: hello' })
})
