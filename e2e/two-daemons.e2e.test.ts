import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

test('F94 of several gateways that start on one home, one serves, the others name it, and a killed one is replaced', async () => {
  const home = temporaryFolder('one-home')
  const started = await Promise.allSettled([1, 2, 3, 4].map(() => startDaemon({ home, keeper: false })))
  const serving = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  expect(serving).toHaveLength(1)
  const [first] = serving
  const refused = started.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []))
  expect(refused).toHaveLength(3)
  // A gateway that is refused before another one serves reports that others are starting.
  for (const why of refused)
    expect(why).toMatch(/This home already has a gateway|serves this home already|Other gateways are starting/)
  const { id } = (await first?.client.sessions.start({ adapter: 'demo', cwd: home })) ?? { id: '' }
  await expect(startDaemon({ home })).rejects.toThrow(`${first?.url}, process ${first?.pid}`)
  // A refused gateway has changed nothing in the home.
  expect(await first?.client.sessions.get(id)).toMatchObject({ status: 'running' })
  expect((await first?.client.sessions.promptAndWait(id, { prompt: 'one' }))?.text).toBe('echo: one')
  await first?.crash()
  const next = await startDaemon({ home })
  expect(await next.client.sessions.get(id)).toMatchObject({ status: 'error', stopReason: 'agent_crashed' })
  expect((await next.client.sessions.promptAndWait(id, { prompt: 'two' })).text).toBe('echo: two')
})
