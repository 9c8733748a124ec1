import { AgentprotoError } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import {
  allEvents,
  drain,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
  types,
} from './fixtures/test-registry.js'

const never: Script = () => new Promise(() => undefined)

test('a kill resolves after the agent has stopped, and only then is the status killed', async () => {
  const agents = scripted()
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  let release = (): void => undefined
  const agent = agents.agents[0]
  if (agent === undefined) throw new Error('no agent')
  agent.exit = { signal: 'SIGKILL' }
  agent.onStop = () => new Promise((resolve) => (release = resolve))
  const killed = registry.kill(id, owner, 'budget_exceeded')
  await settled()
  expect(await registry.get(id)).toMatchObject({ status: 'running' })
  release()
  expect(await killed).toEqual({ ok: true })
  expect(await registry.get(id)).toMatchObject({
    status: 'killed',
    stopReason: 'budget_exceeded',
    signal: 'SIGKILL',
    connection: 'disconnected',
  })
  expect(await registry.kill(id, owner)).toEqual({ ok: false })
  expect(types(await allEvents(registry, id)).slice(-2)).toEqual(['status', 'session-stopped'])
})

test('F63 the first cause wins: a death during a kill is a kill', async () => {
  const agents = scripted(never)
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const agent = agents.agents[0]
  if (agent !== undefined) agent.onStop = async () => agent.die()
  await registry.kill(id, owner)
  await settled()
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'user_canceled' })
  expect(types(await allEvents(registry, id)).filter((type) => type === 'session-stopped')).toHaveLength(1)
})

test('an agent that ends between turns leaves the session exited with its code', async () => {
  const agents = scripted()
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const agent = agents.agents[0]
  agent?.die({ exitCode: 0, message: 'exit 0' })
  await settled()
  expect(await registry.get(id)).toMatchObject({ status: 'exited', stopReason: 'completed', exitCode: 0 })
  expect(agent?.stops).toBe(1)
})

test('12 a signal that this system does not know leaves no exit code', async () => {
  const agents = scripted(never)
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const agent = agents.agents[0]
  if (agent !== undefined) agent.exit = { signal: 'SIGNEW' }
  agent?.die({ signal: 'SIGNEW', message: 'gone' })
  await settled()
  const session = await registry.get(id)
  expect(session).toMatchObject({ status: 'exited', stopReason: 'agent_crashed', signal: 'SIGNEW' })
  expect(session).not.toHaveProperty('exitCode')
})

test('12.B2 an agent that ends by itself leaves the session exited with its code; a signal is 128 and its number', async () => {
  for (const [exit, expected] of [
    [{ exitCode: 7 }, { exitCode: 7 }],
    [{ signal: 'SIGKILL' }, { exitCode: 137, signal: 'SIGKILL' }],
    [{ signal: 'SIGSEGV' }, { exitCode: 139, signal: 'SIGSEGV' }],
  ] as const)
    for (const duringTurn of [true, false]) {
      const agents = scripted(never)
      const { registry } = await memoryRegistry(agents)
      const { id } = await registry.spawn({ adapter: 'fake', ...(duringTurn ? { prompt: 'x' } : {}) }, owner)
      const agent = agents.agents[0]
      if (agent !== undefined) agent.exit = exit
      agent?.die({ ...exit, duringTurn, message: 'gone' })
      await settled()
      const session = await registry.get(id)
      expect(session).toMatchObject({ status: 'exited', stopReason: 'agent_crashed', ...expected })
      const events = await allEvents(registry, id)
      expect(events.filter(({ type }) => type === 'status').at(-1)).toMatchObject({ exitCode: expected.exitCode })
      expect(events.at(-1)).toMatchObject({ type: 'session-stopped', ...expected })
    }
})

test('an agent elsewhere whose connection is lost has not crashed: the session says so, and can be resumed', async () => {
  for (const duringTurn of [true, false]) {
    const agents = scripted(never, { load: true })
    const { registry } = await memoryRegistry({ ...agents, adapters: resumableAdapters })
    const { id } = await registry.spawn({ adapter: 'fake', ...(duringTurn ? { prompt: 'x' } : {}) }, owner)
    await expect.poll(async () => (await registry.get(id)).status).toBe('running')
    const message = 'The connection to the agent was lost: it broke. It did not come back within 120 s'
    const end = { cause: 'transport', isElsewhere: true, duringTurn, message } as const
    agents.agents[0]?.die(end)
    await expect.poll(async () => (await registry.get(id)).status).toBe('error')
    expect(await registry.get(id)).toMatchObject({
      stopReason: 'error',
      resumable: true,
      failure: { kind: 'transport_failure', summary: message },
    })
  }
})

test('F6 an agent that dies in the middle of a turn leaves an error, a turn-end and agent_crashed', async () => {
  const agents = scripted(never)
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const agent = agents.agents[0]
  if (agent !== undefined) agent.exit = { exitCode: 7 }
  agent?.die({ exitCode: 7, duringTurn: true, message: 'The agent exited with code 7', stderrTail: 'boom' })
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'error' })
  await settled()
  expect(await registry.get(id)).toMatchObject({
    status: 'exited',
    stopReason: 'agent_crashed',
    exitCode: 7,
    failure: { kind: 'process_exit', summary: 'The agent exited with code 7\nboom' },
  })
  await expect(registry.prompt(id, { prompt: 'y' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
})

test('an agent that its limit of time ended leaves the session killed, as a timeout', async () => {
  const agents = scripted()
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  agents.agents[0]?.die({ cause: 'timeout', signal: 'SIGTERM', message: 'limits.timeout_ms' })
  await settled()
  expect(await registry.get(id)).toMatchObject({
    status: 'killed',
    stopReason: 'timeout',
    failure: { kind: 'timeout', summary: 'limits.timeout_ms' },
  })
})

test('a start that fails leaves the session in error, with the kind of failure', async () => {
  const startAgent = (): Promise<never> => Promise.reject(new AgentprotoError('handshake_failed', 'No answer'))
  const { registry } = await memoryRegistry({ startAgent })
  await expect(registry.spawn({ adapter: 'fake' }, owner)).rejects.toMatchObject({ code: 'handshake_failed' })
  const { sessions } = await registry.list()
  expect(sessions).toMatchObject([{ status: 'error', stopReason: 'error', failure: { kind: 'handshake_failure' } }])
})

test('a session that is killed while it starts ends as error with the caller’s reason', async () => {
  const { registry } = await memoryRegistry({
    startAgent: ({ signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new AgentprotoError('cancelled', 'Aborted'))),
      ),
  })
  const spawning = registry.spawn({ adapter: 'fake' }, owner)
  await settled()
  const { sessions } = await registry.list()
  const id = sessions[0]?.id ?? ''
  await expect(registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'session_starting' })
  expect(await registry.kill(id, owner)).toEqual({ ok: true })
  await expect(spawning).rejects.toMatchObject({ code: 'cancelled' })
  expect(await registry.get(id)).toMatchObject({ status: 'error', stopReason: 'user_canceled' })
})

test('processes that survive the ladder keep the session from being called ended', async () => {
  const agents = scripted()
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const agent = agents.agents[0]
  if (agent === undefined) throw new Error('no agent')
  agent.onStop = () => Promise.reject(new AgentprotoError('termination_failed', 'Process 1 survives'))
  await expect(registry.kill(id, owner)).rejects.toMatchObject({ code: 'termination_failed' })
  expect(await registry.get(id)).toMatchObject({
    status: 'running',
    connection: 'disconnected',
    warnings: ['Process 1 survives.'],
  })
  agent.onStop = () => Promise.resolve()
  expect(await registry.kill(id, owner)).toEqual({ ok: true })
})

test('a follower gets every event and then the end', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const following = drain(await registry.follow(id, 0))
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'x' }, owner)).turn)
  await registry.kill(id, owner)
  const seqs = (await following).flatMap(({ records }) => records.map(({ seq }) => seq))
  expect(seqs).toEqual([1, 2, 3, 4, 5, 6, 7])
})

test('forget removes the record and the log, of a live session too', async () => {
  const agents = scripted()
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await registry.forget(id, owner)
  expect(agents.agents[0]?.stops).toBe(1)
  await expect(registry.get(id)).rejects.toMatchObject({ code: 'session_not_found' })
  expect((await registry.list()).sessions).toEqual([])
})

test('F27 closing the registry in the middle of a turn ends every session as shutdown, once', async () => {
  const agents = scripted(never)
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await Promise.all([registry.close(), registry.close()])
  expect(agents.agents[0]?.stops).toBe(1)
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'shutdown' })
  await expect(registry.spawn({ adapter: 'fake' }, owner)).rejects.toMatchObject({ code: 'shutting_down' })
})

test('the limit of live sessions holds for concurrent spawns, and an ended session makes room', async () => {
  const { registry } = await memoryRegistry({ ...scripted(), config: { maxSessions: 3 } })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () => registry.spawn({ adapter: 'fake' }, owner)),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  const first = (await registry.list()).sessions[0]?.id ?? ''
  await registry.kill(first, owner)
  await expect(registry.spawn({ adapter: 'fake' }, owner)).resolves.toMatchObject({ status: 'running' })
})

test('F59 a query that races the end of its session sees it running or ended, never half of each', async () => {
  const agents = scripted(never)
  const registry = await fileRegistry(await temporaryHome(), agents)
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const turn = registry.waitTurn(id, 1)
  agents.agents[0]?.die({ exitCode: 7, duringTurn: true })
  const seen = async (): Promise<string> => {
    // The status first: what is read after an end was told must hold all of it.
    const { status } = await registry.get(id)
    const [turns, events] = await Promise.all([registry.turns(id), allEvents(registry, id)])
    if (status === 'running') return status
    expect(turns).toMatchObject([{ number: 1, reason: 'error' }])
    expect(types(events).slice(-2)).toEqual(['status', 'session-stopped'])
    return status
  }
  const racing: Promise<string>[] = []
  const race = async (): Promise<string> => {
    const batch = Array.from({ length: 5 }, seen)
    racing.push(...batch)
    await Promise.allSettled(batch)
    return (await registry.get(id)).status
  }
  await expect.poll(race, { interval: 1, timeout: 20_000 }).toBe('exited')
  racing.push(seen())
  expect(new Set(await Promise.all(racing)).has('exited')).toBe(true)
  expect(await turn).toMatchObject({ reason: 'error' })
})

test('F59 queries at the moment of a kill and of a shutdown are answered from what is kept', async () => {
  const registry = await fileRegistry(await temporaryHome(), scripted(never))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const queries = (): Promise<unknown>[] => [
    registry.get(id),
    registry.turns(id),
    allEvents(registry, id),
    registry.waitTurn(id, 1),
  ]
  const killing = [registry.kill(id, owner), ...queries()]
  expect((await Promise.all(killing))[0]).toEqual({ ok: true })
  const closing = [registry.close(), ...queries()]
  expect(await Promise.all(closing)).toMatchObject([undefined, { status: 'killed' }, [{ reason: 'cancelled' }], {}, {}])
})
