import { expect, test } from 'vitest'
import { connected, ERAS } from './connected.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settled()
}

test.each(ERAS)('a turn that has ended is returned at once, for a %s client', async (era) => {
  const { tool, clock } = await connected(era)
  await tool('start_agent_session', { adapter: 'demo', prompt: 'one' })
  expect(await tool('wait_agent_turn', { sessionId: 's1', turn: 1 })).toMatchObject({
    sessionId: 's1',
    turn: 1,
    state: 'ended',
    result: { number: 1, reason: 'end_turn', text: 'the answer' },
  })
  expect(clock.pending).toBe(0)
})

test('a turn that runs is waited for, and everything is let go after it', async () => {
  const { tool, sessions, clock } = await connected()
  await tool('start_agent_session', { adapter: 'demo', prompt: 'hang' })
  const waiting = tool('wait_agent_turn', { sessionId: 's1', turn: 1 })
  await until(() => clock.pending === 1)
  sessions.endTurn('s1')
  expect(await waiting).toMatchObject({ state: 'ended', result: { number: 1 } })
  expect([clock.pending, sessions.log('s1').open]).toEqual([0, 0])
})

test('F73 after 49 seconds at the latest it answers busy, and waits again when it is called again', async () => {
  const { tool, sessions, clock } = await connected()
  await tool('start_agent_session', { adapter: 'demo', prompt: 'hang' })
  for (const args of [{}, { timeoutSeconds: 49 }, { timeoutSeconds: 2.5 }]) {
    const waiting = tool('wait_agent_turn', { sessionId: 's1', turn: 1, ...args })
    await until(() => clock.pending === 1)
    clock.advance(1_000 * (args.timeoutSeconds ?? 49))
    expect(await waiting).toEqual({ sessionId: 's1', turn: 1, state: 'busy' })
  }
  expect([clock.pending, sessions.log('s1').open]).toEqual([0, 0])
  expect(await tool('wait_agent_turn', { sessionId: 's1', timeoutSeconds: 50 })).toMatchObject({
    field: 'timeoutSeconds',
    expected: 'at most 49',
  })
})

test('a request that somebody has to answer ends the waiting', async () => {
  const { tool, sessions, clock } = await connected()
  await tool('start_agent_session', { adapter: 'demo', prompt: 'ask' })
  expect(await tool('wait_agent_turn', { sessionId: 's1', turn: 1 })).toMatchObject({
    state: 'awaiting-input',
    requests: [{ requestId: 'r1' }],
  })
  await tool('start_agent_session', { adapter: 'demo', prompt: 'hang' })
  const waiting = tool('wait_agent_turn', { sessionId: 's2', turn: 1 })
  await until(() => clock.pending === 1)
  sessions.log('s2').append({ type: 'text-delta', text: 'no request so far' })
  await settled()
  sessions.ask('s2')
  expect(await waiting).toMatchObject({ turn: 1, state: 'awaiting-input', requests: [{ requestId: 'r1' }] })
})

test('a session that ends ends the waiting with its turn', async () => {
  const { tool, sessions, clock } = await connected()
  await tool('start_agent_session', { adapter: 'demo', prompt: 'hang' })
  const waiting = tool('wait_agent_turn', { sessionId: 's1', turn: 1 })
  await until(() => clock.pending === 1)
  sessions.log('s1').end()
  await settled()
  sessions.endTurn('s1', [], 'cancelled')
  expect(await waiting).toMatchObject({ state: 'ended', result: { reason: 'cancelled' } })
})

test('without a number it waits for the last turn, and there must have been one', async () => {
  const { tool } = await connected()
  await tool('start_agent_session', { adapter: 'demo' })
  expect(await tool('wait_agent_turn', { sessionId: 's1' })).toMatchObject({ isError: true, code: 'turn_not_found' })
  await tool('prompt_agent_session', { sessionId: 's1', prompt: 'one' })
  await tool('prompt_agent_session', { sessionId: 's1', prompt: 'two' })
  expect(await tool('wait_agent_turn', { sessionId: 's1' })).toMatchObject({ turn: 2, state: 'ended' })
  expect(await tool('wait_agent_turn', { sessionId: 's1', turn: 9 })).toMatchObject({
    isError: true,
    code: 'turn_not_found',
  })
  expect(await tool('wait_agent_turn', { sessionId: 'unknown' })).toMatchObject({
    isError: true,
    code: 'session_not_found',
  })
})

test('a client that gives up ends the waiting, not the turn', async () => {
  const { tool, sessions, clock } = await connected('modern')
  await tool('start_agent_session', { adapter: 'demo', prompt: 'hang' })
  const gone = new AbortController()
  const waiting = tool('wait_agent_turn', { sessionId: 's1', turn: 1 }, gone.signal)
  await until(() => clock.pending === 1)
  gone.abort()
  await expect(waiting).rejects.toThrow()
  await until(() => clock.pending === 0)
  expect(sessions.log('s1').open).toBe(0)
  expect((await sessions.turns('s1')).at(-1)).toMatchObject({ state: 'running' })
})
