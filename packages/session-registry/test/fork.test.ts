import { expect, test } from 'vitest'
import { scripted } from './fixtures/scripted-agent.js'
import { allEvents, memoryRegistry, owner, types } from './fixtures/test-registry.js'

test('a fork starts another agent on the old conversation, in the same place and with the same settings', async () => {
  const { startAgent, agents } = scripted(undefined, { fork: true })
  const { registry } = await memoryRegistry({ startAgent })
  const spawn = { adapter: 'fake', label: 'mine', mode: 'plan', options: { a: 1 }, permissionMode: 'deny-all' } as const
  const old = await registry.spawn(spawn, owner)
  await registry.waitTurn(old.id, (await registry.prompt(old.id, { prompt: 'one' }, owner)).turn)
  const child = await registry.fork(old.id, { title: 'another way', prompt: 'two' }, owner)
  expect(child).toMatchObject({
    status: 'running',
    forkedFrom: old.id,
    label: 'mine',
    title: 'another way',
    cwd: old.cwd,
    permissionMode: 'deny-all',
    turnCount: 1,
  })
  expect(agents[1]?.options).toMatchObject({
    sessionId: child.id,
    origin: { how: 'fork', agentSessionId: 'agent-1' },
    mode: 'plan',
    options: { a: 1 },
  })
  expect(await registry.waitTurn(child.id, 1)).toMatchObject({ text: 'echo: two' })
  expect(types(await allEvents(registry, child.id)).slice(0, 3)).toEqual(['status', 'status', 'user-prompt'])
  expect(await registry.get(old.id)).toMatchObject({ status: 'running', turnCount: 1 })
})

test('a fork is refused where the agent cannot, and while a turn runs', async () => {
  const unable = await memoryRegistry(scripted())
  const { id } = await unable.registry.spawn({ adapter: 'fake' }, owner)
  await expect(unable.registry.fork(id, {}, owner)).rejects.toMatchObject({ code: 'not_supported' })

  const { registry } = await memoryRegistry(scripted(({ cancelled }) => cancelled, { fork: true }))
  const busy = await registry.spawn({ adapter: 'fake', prompt: 'hang' }, owner)
  await expect(registry.fork(busy.id, {}, owner)).rejects.toMatchObject({ code: 'turn_in_progress' })
  expect((await registry.list()).sessions).toHaveLength(1)
})
