import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { newMark } from './support/marked-processes.js'
import { temporaryFolder } from './support/temporary-folder.js'

test('after kill -9 of the gateway the next prompt continues the conversation', async () => {
  const home = temporaryFolder('resume')
  const mark = newMark()
  const first = await startDaemon({ home, keeper: false, env: mark.env })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.promptAndWait(id, { prompt: 'the bird is a heron' })
  // The demo agent stores a turn about a millisecond after its answer.
  await first.client.sessions.promptAndWait(id, { prompt: 'late 100' })
  await first.crash()

  const second = await startDaemon({ home, env: mark.env })
  expect(await second.client.sessions.get(id)).toMatchObject({
    status: 'error',
    stopReason: 'agent_crashed',
    resumable: true,
  })
  const { text } = await second.client.sessions.promptAndWait(id, { prompt: 'recall' })
  expect(text).toContain('1: the bird is a heron')
  const session = await second.client.sessions.get(id)
  expect(session).toMatchObject({ status: 'running', resumedHow: 'resume', turnCount: 3 })
  expect(session.failure).toBeUndefined()

  const { events } = await second.client.sessions.eventsPage(id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  // The history of the agent is not logged a second time.
  expect(events.filter((event) => event.type === 'user-prompt')).toHaveLength(3)
  await second.client.sessions.kill(id)
  expect(mark.living()).toHaveLength(1)
})
