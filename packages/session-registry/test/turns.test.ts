import { isAgentprotoError } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import { allEvents, memoryRegistry, owner, types } from './fixtures/test-registry.js'

const until = (turn: { cancelled: Promise<void> }): Promise<void> => turn.cancelled
const hangUntilCancelled: Script = async (turn) => {
  await turn.emit({ type: 'text-delta', text: 'working' })
  await until(turn)
  await turn.emit({ type: 'turn-end', reason: 'cancelled' })
}

test('a session lives through several turns, and its log has no hole', async () => {
  const { registry } = await memoryRegistry(scripted())
  const session = await registry.spawn({ adapter: 'fake' }, owner)
  expect(session).toMatchObject({ status: 'running', adapterSlug: 'fake', workspaceSlug: 'default', turnCount: 0 })
  for (const text of ['one', 'two']) {
    const { turn } = await registry.prompt(session.id, { prompt: text }, owner)
    expect(await registry.waitTurn(session.id, turn)).toMatchObject({
      number: turn,
      reason: 'end_turn',
      text: `echo: ${text}`,
    })
  }
  const events = await allEvents(registry, session.id)
  expect(types(events)).toEqual([
    'status',
    'status',
    'user-prompt',
    'text-delta',
    'turn-end',
    'user-prompt',
    'text-delta',
    'turn-end',
  ])
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(events.slice(2, 5).every(({ turn }) => turn === 1)).toBe(true)
  expect(await registry.get(session.id)).toMatchObject({
    turnCount: 2,
    title: 'one',
    turn: { number: 2, state: 'idle' },
    lastSeq: 8,
  })
})

test('the prompt given at spawn is the first turn', async () => {
  const { registry } = await memoryRegistry(scripted())
  const session = await registry.spawn({ adapter: 'fake', prompt: 'hello', label: 'l' }, owner)
  expect(await registry.waitTurn(session.id, 1)).toMatchObject({ text: 'echo: hello' })
  expect((await allEvents(registry, session.id))[2]).toMatchObject({ type: 'user-prompt', origin: 'spawn' })
})

test('F16 of 200 prompts at once exactly one is accepted, the others get turn_in_progress', async () => {
  const { registry } = await memoryRegistry(scripted(hangUntilCancelled))
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, () => registry.prompt(id, { prompt: 'x' }, owner)),
  )
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(refused).toHaveLength(199)
  expect(refused.every(({ reason }) => isAgentprotoError(reason) && reason.code === 'turn_in_progress')).toBe(true)
  await registry.interrupt(id, owner)
  expect(types(await allEvents(registry, id)).filter((type) => type === 'turn-end')).toHaveLength(1)
})

test('F15 a prompt sent the moment a turn ended is accepted and reaches the agent after it', async () => {
  const { registry } = await memoryRegistry(
    scripted(async ({ emit, text }) => {
      await emit({ type: 'turn-end', reason: 'end_turn' })
      // The agent is still busy with what comes after its answer.
      await settled()
      expect(text).not.toBe('')
    }),
  )
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  for (let turn = 1; turn <= 5; turn += 1) {
    await registry.prompt(id, { prompt: `t${turn}` }, owner)
    await registry.waitTurn(id, turn)
  }
  expect((await registry.turns(id)).map(({ number, reason }) => [number, reason])).toEqual(
    [1, 2, 3, 4, 5].map((n) => [n, 'end_turn']),
  )
})

test('F14 a wait for a turn that is over returns that turn, and one for a later turn is refused', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  for (const text of ['a', 'b', 'c'])
    await registry.waitTurn(id, (await registry.prompt(id, { prompt: text }, owner)).turn)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ number: 1, text: 'echo: a' })
  await expect(registry.waitTurn(id, 4)).rejects.toMatchObject({ code: 'turn_not_found' })
})

test('F9 an agent that settles its prompt without a turn-end gets one as an error', async () => {
  const { registry } = await memoryRegistry(scripted(() => undefined))
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const { turn } = await registry.prompt(id, { prompt: 'x' }, owner)
  expect(await registry.waitTurn(id, turn)).toMatchObject({ reason: 'error', empty: true })
})

test('F13 tool calls that a failed turn left open are closed as interrupted', async () => {
  const { registry } = await memoryRegistry(
    scripted(async ({ emit }) => {
      await emit({ type: 'tool-call', toolCallId: 't1', title: 'Reading' })
      throw new Error('lost')
    }),
  )
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'x' }, owner)).turn)
  const tail = (await allEvents(registry, id)).slice(-4)
  expect(types(tail)).toEqual(['tool-call', 'tool-result', 'error', 'turn-end'])
  expect(tail[1]).toMatchObject({ toolCallId: 't1', status: 'interrupted' })
})

test('an interrupt ends the turn, is idempotent, and leaves the session running', async () => {
  const { registry } = await memoryRegistry(scripted(hangUntilCancelled))
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  expect(await registry.interrupt(id, owner)).toEqual({ wasBusy: false })
  const { turn } = await registry.prompt(id, { prompt: 'x' }, owner)
  const both = await Promise.all([registry.interrupt(id, owner), registry.interrupt(id, owner)])
  expect(both).toEqual([{ wasBusy: true }, { wasBusy: true }])
  expect(await registry.waitTurn(id, turn)).toMatchObject({ reason: 'cancelled' })
  expect(await registry.get(id)).toMatchObject({ status: 'running', turn: { state: 'idle' } })
})

test('F20 an agent that ignores the interrupt ends its session as timeout after the grace', async () => {
  const never: Script = () => new Promise(() => undefined)
  const { registry, clock } = await memoryRegistry({ ...scripted(never), config: { interruptGraceMs: 30_000 } })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const { turn } = await registry.prompt(id, { prompt: 'x' }, owner)
  const interrupted = registry.interrupt(id, owner)
  await settled()
  await clock.advance(30_000)
  await interrupted
  expect(await registry.waitTurn(id, turn)).toMatchObject({ reason: 'timeout' })
  expect(await registry.get(id)).toMatchObject({
    status: 'killed',
    stopReason: 'timeout',
    failure: { kind: 'timeout' },
  })
})

test('a prompt whose turn was interrupted before it was sent never reaches the agent', async () => {
  const seen: string[] = []
  const slowEnd: Script = async ({ text, emit }) => {
    seen.push(text)
    await emit({ type: 'turn-end', reason: 'end_turn' })
    await settled()
  }
  const { registry } = await memoryRegistry(scripted(slowEnd))
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'first' }, owner)).turn)
  const { turn } = await registry.prompt(id, { prompt: 'second' }, owner)
  await registry.interrupt(id, owner)
  expect(await registry.waitTurn(id, turn)).toMatchObject({ reason: 'cancelled' })
  expect(seen).toEqual(['first'])
})

test('what the agent emits outside of a turn is kept, but not as part of a turn', async () => {
  const agents = scripted()
  const { registry } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await agents.agents[0]?.sink.emit([
    { type: 'text-delta', text: 'late' },
    { type: 'turn-end', reason: 'end_turn' },
  ])
  const events = (await allEvents(registry, id)).slice(2)
  expect(events).toMatchObject([
    { type: 'extension', kind: 'stray-text-delta' },
    { type: 'extension', kind: 'stray-turn-end' },
  ])
})
