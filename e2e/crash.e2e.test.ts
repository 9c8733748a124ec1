import { expect, test } from 'vitest'
import type { EventSourceMessage } from 'eventsource-parser'
import type { Client, SessionEvent } from '@agentproto/client'
import { startDaemon } from './support/daemon.js'
import { readEventStream } from './support/event-stream.js'
import { newMark } from './support/marked-processes.js'
import { temporaryFolder } from './support/temporary-folder.js'

test('kill -9 during a turn loses no event that a client saw, and leaves no agent', async () => {
  const home = temporaryFolder('crash')
  const mark = newMark()
  const first = await startDaemon({ home, keeper: false, env: mark.env })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  // The agent neither exits with its host nor on SIGTERM, and it has a grandchild.
  await first.client.sessions.promptAndWait(id, { prompt: 'stubborn; fork' })
  await first.client.sessions.prompt(id, { prompt: 'stream 100000 1' })
  // The gateway itself, the agent and the grandchild.
  expect(mark.living()).toHaveLength(3)
  const seen = await eventsUntilDeath(`${first.url}/sessions/${id}/events`, first.token, () => first.crash())
  expect(seen.length).toBeGreaterThan(300)
  expect(mark.living()).toHaveLength(2)

  const second = await startDaemon({ home })
  const logged = await allEvents(second.client, id)
  expect(logged.map(({ seq }) => seq)).toEqual(logged.map((_, i) => i + 1))
  expect(logged.slice(0, seen.length)).toEqual(seen.map(({ data }) => JSON.parse(data)))
  expect(logged.filter(({ type }) => type === 'turn-end')).toHaveLength(2)
  expect(logged.at(-1)).toMatchObject({ type: 'session-stopped', status: 'error', stopReason: 'agent_crashed' })
  expect(await second.client.sessions.get(id)).toMatchObject({
    status: 'error',
    stopReason: 'agent_crashed',
    turn: { number: 2, state: 'idle' },
  })
  expect(mark.living()).toEqual([])
})

/** Reads events, kills the gateway when there are enough, and reads to the end. */
async function eventsUntilDeath(url: string, token: string, kill: () => Promise<void>): Promise<EventSourceMessage[]> {
  const seen: EventSourceMessage[] = []
  let killed: Promise<void> | undefined
  try {
    for await (const message of readEventStream(url, { token })) {
      if (message.id !== undefined) seen.push(message)
      if (seen.length > 300) killed ??= kill()
    }
  } catch (error) {
    // The connection breaks, as intended.
    if (!killed) throw error
  }
  await killed
  return seen
}

async function allEvents(client: Client, id: string): Promise<readonly SessionEvent[]> {
  const all: SessionEvent[] = []
  for (;;) {
    const { events } = await client.sessions.eventsPage(id, all.at(-1)?.seq ?? 0)
    if (events.length === 0) return all
    all.push(...events)
  }
}
